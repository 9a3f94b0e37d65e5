"""`ts.utils.tensorboard`: files that TensorBoard reads."""

import builtins
import os

import numpy as np
import pytest

import ts
from ts.utils.tensorboard import SummaryWriter


def test_the_package_is_named(monkeypatch, tmp_path):
    """Without `tensorboard`, the module can be imported, and creating a writer raises ImportError."""
    real = builtins.__import__

    def import_without_tensorboard(name, *args):
        if name.partition(".")[0] == "tensorboard":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", import_without_tensorboard)
    with pytest.raises(
        ImportError, match="SummaryWriter needs the package tensorboard: pip install tensorboard"
    ):
        SummaryWriter(tmp_path)


@pytest.fixture
def write_and_read(tmp_path):
    """Return a function that calls writer methods and returns the summary values read back."""
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event

    def write(use, folder=""):
        with SummaryWriter(str(tmp_path)) as writer:
            use(writer)
        folder_path = tmp_path / folder
        (path,) = [folder_path / name for name in os.listdir(folder_path) if "tfevents" in name]
        events = [Event.FromString(raw) for raw in RawEventFileLoader(str(path)).Load()]
        return [(event, value) for event in events for value in event.summary.value]

    return write


def test_numbers(write_and_read):
    """Scalars of all number types, with step and wall time."""

    def use(writer):
        writer.add_scalar("a/b", ts.tensor([0.5]), 3, walltime=5.0)
        writer.add_scalar("new", 2, new_style=True)
        writer.add_scalar("double", 2.5, new_style=True, double_precision=True)
        writer.add_tensor("tensor", ts.arange(6).reshape(2, 3), 1)

    (event, value), (_, new), (_, double), (_, tensor) = write_and_read(use)
    assert (event.step, event.wall_time, value.tag, value.simple_value) == (3, 5.0, "a/b", 0.5)
    assert new.tensor.float_val == [2.0] and double.tensor.double_val == [2.5]
    assert list(tensor.tensor.int64_val) == [0, 1, 2, 3, 4, 5]
    assert [dim.size for dim in tensor.tensor.tensor_shape.dim] == [2, 3]


def test_numbers_of_one_chart(write_and_read):
    """`add_scalars` writes each scalar to a separate directory."""
    ((event, value),) = write_and_read(lambda w: w.add_scalars("m/x", {"p": 1.0, "q": 2.0}, 4), "m_x_q")
    assert (event.step, value.tag, value.simple_value) == (4, "m/x", 2.0)


def test_histograms(write_and_read):
    """Histograms have bucket limits and counts, without empty buckets at the ends."""

    def use(writer):
        writer.add_histogram("h", ts.tensor([1.0, 2.0, 2.0, 4.0]), 1, bins=3)
        writer.add_histogram("t", ts.zeros(5), 1)
        writer.add_histogram_raw("r", 0.0, 1.0, 2, 3.0, 4.0, [1.0, 2.0], [3, 4])

    (_, h), (_, t), (_, raw) = write_and_read(use)
    assert (h.histo.min, h.histo.max, h.histo.num, h.histo.sum, h.histo.sum_squares) == (1, 4, 4, 9, 25)
    assert list(h.histo.bucket) == [0, 1, 2, 1] and list(h.histo.bucket_limit) == [1, 2, 3, 4]
    assert list(t.histo.bucket) == [0, 5] and list(raw.histo.bucket) == [3, 4]


def test_pictures(write_and_read):
    """Images are PNG files in any dimension order; batches become a grid."""
    pytest.importorskip("PIL")
    from PIL import Image

    picture = ts.zeros(3, 4, 5)
    picture[0] = 1.0

    def use(writer):
        writer.add_image("chw", picture)
        writer.add_image("hwc", (picture * 255).to(ts.uint8).permute(1, 2, 0), dataformats="HWC")
        writer.add_images("grid", ts.stack([picture] * 9))
        writer.add_image("grey", ts.ones(4, 5), dataformats="HW")

    values = [value.image for _, value in write_and_read(use)]
    assert [(v.height, v.width, v.colorspace) for v in values] == [
        (4, 5, 3),
        (4, 5, 3),
        (8, 40, 3),
        (4, 5, 3),
    ]
    import io

    for value, colour in zip(values, [[255, 0, 0]] * 3 + [[255, 255, 255]], strict=True):
        assert np.asarray(Image.open(io.BytesIO(value.encoded_image_string)))[0, 0].tolist() == colour


def test_curves_texts_and_sounds(write_and_read):
    """Curves, texts and audio have the metadata of their plugins."""

    def use(writer):
        writer.add_pr_curve("pr", ts.tensor([0, 1, 1]), ts.tensor([0.2, 0.4, 0.9]), 1, num_thresholds=3)
        writer.add_text("t", "hello", 2)
        writer.add_audio("a", ts.tensor([[0.0, 1.0, -2.0]]), sample_rate=8)
        writer.add_mesh("m", ts.ones(1, 4, 3))
        writer.add_custom_scalars({"T": {"c": ["Multiline", ["a", "b"]]}})

    values = [value for _, value in write_and_read(use)]
    plugins = [value.metadata.plugin_data.plugin_name for value in values]
    assert plugins == ["pr_curves", "text", "", "mesh", "custom_scalars"]
    assert list(values[0].tensor.float_val)[:6] == [2, 1, 0, 1, 0, 0]
    assert values[1].tag == "t/text_summary" and values[1].tensor.string_val == [b"hello"]
    assert (
        values[2].audio.encoded_audio_string[-6:] == b"\x00\x00\xff\x7f\x01\x80"
        and values[2].audio.length_frames == 3
    )


def test_runs_with_hyperparameters(write_and_read):
    """`add_hparams` writes to a separate directory."""
    values = write_and_read(lambda w: w.add_hparams({"lr": 0.1, "net": "s"}, {"acc": 0.5}, run_name="r"), "r")
    tags = [value.tag for _, value in values]
    assert tags == [
        "_hparams_/experiment",
        "_hparams_/session_start_info",
        "_hparams_/session_end_info",
        "acc",
    ]
    assert values[-1][1].simple_value == 0.5


def test_graphs(write_and_read):
    """Graph nodes are scoped by module."""
    from ts.utils.tensorboard.graphs import graph_of

    model = ts.nn.Sequential(ts.nn.Linear(2, 3), ts.nn.ReLU())
    write_and_read(lambda w: w.add_graph(model, ts.ones(4, 2)))
    graph, _ = graph_of(model, ts.ones(4, 2))
    assert [node.op for node in graph.node] == ["IO Node", "aten::linear", "aten::relu", "IO Node"]
    assert list(graph.node[2].input) == [graph.node[1].name]


def test_points_of_the_projector(tmp_path):
    """Embeddings of the projector have labels and one configuration file."""
    pytest.importorskip("tensorboard")
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_embedding(ts.arange(4.0).reshape(2, 2), ["a", "b"], global_step=3)
        writer.add_embedding(ts.ones(1, 2), [["x", 1]], tag="o/t", metadata_header=["name", "n"])
    assert (tmp_path / "00003/default/tensors.tsv").read_text() == "0.0\t1.0\n2.0\t3.0\n"
    assert (tmp_path / "00003/default/metadata.tsv").read_text() == "a\nb\n"
    assert (tmp_path / "00000/o%2ft/metadata.tsv").read_text() == "name\tn\nx\t1\n"
    assert (tmp_path / "projector_config.pbtxt").read_text().count("embeddings {") == 2


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda w: w.add_scalar("x", ts.ones(2)), "Tensor should contain one element"),
        (lambda w: w.add_histogram("x", ts.ones(0)), "The input has no element"),
        (
            lambda w: w.add_image("x", ts.ones(3, 2, 2), dataformats="HW"),
            "size of input tensor and input format",
        ),
        (lambda w: w.add_hparams(1, {}), "should be dictionary"),
        (lambda w: w.add_audio("x", ts.ones(2, 3)), "should be 1 dimensional"),
        (lambda w: w.add_embedding(ts.ones(3)), "mat should be 2D"),
    ],
)
def test_invalid_arguments_raise(tmp_path, use, error):
    """Errors have PyTorch's messages."""
    pytest.importorskip("tensorboard")
    with (
        SummaryWriter(str(tmp_path)) as writer,
        pytest.raises((AssertionError, ValueError, TypeError), match=error),
    ):
        use(writer)


def test_a_closed_writer_opens_again(tmp_path):
    """Writing after `close` opens a new file."""
    pytest.importorskip("tensorboard")
    writer = SummaryWriter(str(tmp_path), comment="_c", filename_suffix=".s")
    writer.add_scalar("x", 1)
    writer.close()
    writer.add_scalar("x", 2)
    writer.flush()
    writer.close()
    assert writer.get_logdir() == str(tmp_path) and all(n.endswith(".s") for n in os.listdir(tmp_path))
