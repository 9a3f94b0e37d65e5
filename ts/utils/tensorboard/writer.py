"""Writers of TensorBoard event files.

Input: tags, values and steps. Output: event files in a log directory. The example writes one number:

    writer = SummaryWriter("runs/first")
    writer.add_scalar("loss", loss, step)
    writer.close()
"""

from __future__ import annotations

import os
import socket
import time
from datetime import datetime
from typing import Any, Self

_MISSING = "SummaryWriter needs the package tensorboard: pip install tensorboard"


class FileWriter:
    """Writer of one event file."""

    def __init__(
        self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = ""
    ) -> None:
        try:
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError as error:
            raise ImportError(_MISSING) from error
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """Return the log directory."""
        return str(self.event_writer.get_logdir())

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event with a step and a wall time."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a summary as an event."""
        from tensorboard.compat.proto.event_pb2 import Event

        self.add_event(Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile: tuple[Any, Any], walltime: float | None = None) -> None:
        """Write `graph_profile`: a graph and the metadata of a run."""
        from tensorboard.compat.proto.event_pb2 import Event, TaggedRunMetadata

        graph, stats = graph_profile
        self.add_event(Event(graph_def=graph.SerializeToString()), None, walltime)
        tagged = TaggedRunMetadata(tag="step1", run_metadata=stats.SerializeToString())
        self.add_event(Event(tagged_run_metadata=tagged), None, walltime)

    def flush(self) -> None:
        """Flush pending events to the file."""
        self.event_writer.flush()

    def close(self) -> None:
        """Flush pending events and close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Open a new event file after `close`. Do nothing if the writer is open."""
        self.event_writer.reopen()


def _default_bins() -> list[float]:
    bounds, value = [], 1e-12
    while value < 1e20:
        bounds.append(value)
        value *= 1.1
    return [-bound for bound in reversed(bounds)] + [0] + bounds


class SummaryWriter:
    """Writer of a run's values to a log directory, by default `runs/TIME_HOST`.

    The constructor raises ImportError if the package `tensorboard` is not installed.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            timestamp = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{timestamp}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()
        self.default_bins = _default_bins()

    def _get_file_writer(self) -> FileWriter:
        """Return the writer of the event file. After `close`, create a new one."""
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = FileWriter(self.log_dir, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                from tensorboard.compat.proto.event_pb2 import Event, SessionLog

                step = self.purge_step
                self.file_writer.add_event(Event(step=step, file_version="brain.Event:2"))
                self.file_writer.add_event(Event(step=step, session_log=SessionLog(status=SessionLog.START)))
                self.purge_step = None
        return self.file_writer

    def _add(self, kind: str, *args: Any, step: Any, walltime: float | None, **options: Any) -> None:
        from ts.utils.tensorboard import summary

        summary_proto = getattr(summary, kind)(*args, **options)
        self._get_file_writer().add_summary(summary_proto, step, walltime)

    def get_logdir(self) -> Any:
        """Return the log directory."""
        return self.log_dir

    # ---- numbers

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: Any = None, walltime: float | None = None,
        new_style: bool = False, double_precision: bool = False,
    ) -> None:  # fmt: skip
        """Write a number for a step."""
        self._add(
            "scalar", tag, scalar_value, new_style, double_precision, step=global_step, walltime=walltime
        )

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write several numbers for one chart. Each number is written to a separate subdirectory."""
        from ts.utils.tensorboard import summary

        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            name = f"{folder}/{main_tag.replace('/', '_')}_{tag}"
            if name not in self.all_writers:
                self.all_writers[name] = FileWriter(
                    name, self.max_queue, self.flush_secs, self.filename_suffix
                )
            self.all_writers[name].add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(
        self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write a tensor."""
        self._add("tensor_proto", tag, tensor, step=global_step, walltime=walltime)

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow",
        walltime: float | None = None, max_bins: int | None = None,
    ) -> None:  # fmt: skip
        """Write a histogram of values."""
        bins = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add("histogram", tag, values, bins, max_bins, step=global_step, walltime=walltime)

    def add_histogram_raw(
        self, tag: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any, bucket_limits: Any,
        bucket_counts: Any, global_step: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write precomputed histogram counts."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        fields = (min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add("histogram_raw", tag, *fields, step=global_step, walltime=walltime)

    def add_pr_curve(
        self, tag: str, labels: Any, predictions: Any, global_step: Any = None, num_thresholds: int = 127,
        weights: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write the precision-recall curve of predictions."""
        self._add(
            "pr_curve", tag, labels, predictions, num_thresholds, weights, step=global_step, walltime=walltime
        )

    def add_pr_curve_raw(
        self, tag: str, true_positive_counts: Any, false_positive_counts: Any, true_negative_counts: Any,
        false_negative_counts: Any, precision: Any, recall: Any, global_step: Any = None,
        num_thresholds: int = 127, weights: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write a precomputed precision-recall curve."""
        import numpy as np

        from ts.utils.tensorboard.summary import as_array

        counts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
        rows = np.stack([as_array(row).reshape(-1) for row in (*counts, precision, recall)])
        self._add("pr_curve_raw", tag, rows, num_thresholds, step=global_step, walltime=walltime)

    # ---- images, audio, text

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """Write an image."""
        self._add("image", tag, img_tensor, dataformats, step=global_step, walltime=walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:  # fmt: skip
        """Write a batch of images as a grid."""
        if isinstance(img_tensor, list):
            import numpy as np

            from ts.utils.tensorboard.summary import as_array

            img_tensor = np.stack([as_array(image) for image in img_tensor])
        self._add("image", tag, img_tensor, dataformats, step=global_step, walltime=walltime)

    def add_image_with_boxes(
        self, tag: str, img_tensor: Any, box_tensor: Any, global_step: Any = None,
        walltime: float | None = None, rescale: float = 1, dataformats: str = "CHW", labels: Any = None,
    ) -> None:  # fmt: skip
        """Write an image with bounding boxes."""
        labels = [labels] if isinstance(labels, str) else labels
        if labels is not None and len(labels) != len(box_tensor):
            labels = None
        arguments = (tag, img_tensor, box_tensor, rescale, dataformats, labels)
        self._add("image_boxes", *arguments, step=global_step, walltime=walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write matplotlib figures as an image."""
        from ts.utils.tensorboard.summary import figure_pixels

        formats = "NCHW" if isinstance(figure, list) else "CHW"
        self.add_image(tag, figure_pixels(figure, close), global_step, walltime, formats)

    def add_video(
        self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write video clips."""
        self._add("video", tag, vid_tensor, fps, step=global_step, walltime=walltime)

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write audio samples."""
        self._add("audio", tag, snd_tensor, sample_rate, step=global_step, walltime=walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write a text."""
        self._add("text", tag, text_string, step=global_step, walltime=walltime)

    def add_mesh(
        self, tag: str, vertices: Any, colors: Any = None, faces: Any = None, config_dict: Any = None,
        global_step: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write a 3-d mesh or point cloud."""
        self._add("mesh", tag, vertices, colors, faces, config_dict, step=global_step, walltime=walltime)

    # ---- models, charts, runs

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Write the graph of a model's trace."""
        from ts.utils.tensorboard.graphs import graph_of

        graph = graph_of(model, input_to_model, verbose, use_strict_trace)
        self._get_file_writer().add_graph(graph)

    def add_onnx_graph(self, prototxt: Any) -> None:
        """Raise NotImplementedError: ts does not read ONNX files."""
        raise NotImplementedError("add_onnx_graph: ONNX files are unsupported; use add_graph with a model")

    def add_custom_scalars(self, layout: dict[str, dict[str, Any]]) -> None:
        """Write a layout of custom charts."""
        self._add("custom_scalars", layout, step=None, walltime=None)

    def add_custom_scalars_multilinechart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Write the layout of one chart with several scalars."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Write the layout of a chart that shows a number between a lower and an upper limit."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_embedding(
        self, mat: Any, metadata: Any = None, label_img: Any = None, global_step: Any = None,
        tag: str = "default", metadata_header: Any = None,
    ) -> None:  # fmt: skip
        """Write points, labels and images for the embedding projector."""
        from ts.utils.tensorboard.projector import write_embedding

        folder = self._get_file_writer().get_logdir()
        write_embedding(folder, mat, metadata, label_img, global_step, tag, metadata_header)

    def add_hparams(
        self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any], hparam_domain_discrete: Any = None,
        run_name: str | None = None, global_step: Any = None,
    ) -> None:  # fmt: skip
        """Write the hyperparameters and metrics of a run to a subdirectory."""
        from ts.utils.tensorboard.hparams import hparams

        summaries = hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for each in summaries:
                writer._get_file_writer().add_summary(each, global_step)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    # ---- flush and close

    def flush(self) -> None:
        """Flush pending events of all files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Flush pending events and close all files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
