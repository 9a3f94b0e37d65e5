"""Summary messages (protobuf) of TensorBoard: scalars, histograms, text, images, audio and meshes.

Input: a tag, and tensors, arrays or numbers. Output: a `Summary` message of the package `tensorboard`. For
example, `image("sample", ts.rand(3, 8, 8), "CHW")` returns a summary with a PNG image.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

Array = NDArray[Any]


def as_array(x: Any) -> Array:
    """Convert a tensor, an array, a number or a list of these to an array."""
    if isinstance(x, list):
        return np.array([as_array(each) for each in x])
    if hasattr(x, "detach"):
        x = x.detach().cpu()
        return np.asarray(x.numpy() if "bfloat16" not in str(x.dtype) else x.float().numpy())
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")


def _shape(sizes: Sequence[int]) -> TensorShapeProto:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _create_summary(tag: str, **content: Any) -> Summary:
    return Summary(value=[Summary.Value(tag=tag, **content)])


def _plugin(name: str, content: bytes = b"", display_name: str | None = None) -> SummaryMetadata:
    data = SummaryMetadata.PluginData(plugin_name=name, content=content)
    return SummaryMetadata(plugin_data=data, display_name=display_name)


# ---------------------------------------------------------------- numbers


def scalar(tag: str, value: Any, new_style: bool = False, double_precision: bool = False) -> Summary:
    """Return a summary of one number. Raise AssertionError for several numbers."""
    array = as_array(value).squeeze()
    if array.ndim != 0:
        raise AssertionError(
            "Tensor should contain one element (0 dimensions).             "
            f"Was given size: {array.size} and {array.ndim} dimensions."
        )
    float_value = float(array)
    if not new_style:
        return _create_summary(tag, simple_value=float_value)
    if double_precision:
        tensor = TensorProto(double_val=[float_value], dtype="DT_DOUBLE")
    else:
        tensor = TensorProto(float_val=[float_value], dtype="DT_FLOAT")
    return _create_summary(tag, tensor=tensor, metadata=_plugin("scalars"))


def tensor_proto(tag: str, value: Any) -> Summary:
    """Return a summary that contains the elements of a tensor."""
    array = as_array(value)
    if array.dtype not in _DTYPES:
        raise ValueError(f"{tag} has unsupported tensor dtype {array.dtype}")
    name, field = _DTYPES[array.dtype]
    elements: Any = array.view(np.uint16) if name == "DT_HALF" else array
    if array.dtype.kind == "c":
        elements = np.stack([array.real, array.imag], -1)
    content = {field: elements.reshape(-1).tolist()}
    proto = TensorProto(dtype=name, tensor_shape=_shape(array.shape), **content)
    return _create_summary(tag, tensor=proto, metadata=_plugin("tensor"))


_DTYPES: Final = {
    np.dtype(np.float16): ("DT_HALF", "half_val"), np.dtype(np.float32): ("DT_FLOAT", "float_val"),
    np.dtype(np.float64): ("DT_DOUBLE", "double_val"), np.dtype(np.int8): ("DT_INT8", "int_val"),
    np.dtype(np.uint8): ("DT_UINT8", "int_val"), np.dtype(np.int16): ("DT_INT16", "int_val"),
    np.dtype(np.int32): ("DT_INT32", "int_val"), np.dtype(np.int64): ("DT_INT64", "int64_val"),
    np.dtype(np.bool_): ("DT_BOOL", "bool_val"), np.dtype(np.complex64): ("DT_COMPLEX64", "scomplex_val"),
    np.dtype(np.complex128): ("DT_COMPLEX128", "dcomplex_val"),
}  # fmt: skip


def histogram_raw(
    tag: str, min: float, max: float, num: float, sum: float, sum_squares: float, limits: Any, counts: Any
) -> Summary:
    """Return a summary of precomputed histogram counts."""
    proto = HistogramProto(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares,
        bucket_limit=as_array(limits).reshape(-1).tolist(), bucket=as_array(counts).reshape(-1).tolist(),
    )  # fmt: skip
    return _create_summary(tag, histo=proto)


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None = None) -> Summary:
    """Return a summary of a histogram. Raise ValueError for an empty array."""
    elements = as_array(values).reshape(-1).astype(float)
    if elements.size == 0:
        raise ValueError("The input has no element.")
    counts, limits = np.histogram(elements, bins=bins)
    groups = len(counts)
    if max_bins is not None and groups > max_bins:
        step = groups // max_bins
        if groups % step:
            counts = np.pad(counts, pad_width=[[0, step - groups % step]], mode="constant", constant_values=0)
        counts = counts.reshape(-1, step).sum(axis=-1)
        bucket_limits = np.empty((counts.size + 1,), limits.dtype)
        bucket_limits[:-1], bucket_limits[-1] = limits[:-1][::step], limits[-1]
        limits = bucket_limits
    # Remove the empty buckets at both ends. Keep one empty bucket before the first nonempty bucket, because
    # the upper limit of the former is the lower limit of the latter.
    cumulative = np.cumsum(np.greater(counts, 0))
    first, last = np.searchsorted(cumulative, [0, cumulative[-1] - 1], side="right")
    start, end = int(first), int(last) + 1
    counts = counts[start - 1 : end] if start > 0 else np.concatenate([[0], counts[:end]])
    limits = limits[start : end + 1]
    if counts.size == 0 or limits.size == 0:
        raise ValueError("The histogram is empty, please file a bug report.")
    return histogram_raw(
        tag,
        elements.min(),
        elements.max(),
        len(elements),
        elements.sum(),
        elements.dot(elements),
        limits,
        counts,
    )


# ---------------------------------------------------------------- images and audio


def _grid(images: Array, columns: int = 8) -> Array:
    """Arrange images (N, C, H, W) in a grid, an image of shape (rows * H, columns * W, C)."""
    count, channels, height, width = images.shape
    if channels == 1:
        images, channels = np.concatenate([images] * 3, 1), 3
    columns = min(count, columns)
    rows = -(-count // columns)
    grid = np.zeros((channels, height * rows, width * columns), dtype=images.dtype)
    for index in range(count):
        y, x = index // columns * height, index % columns * width
        grid[:, y : y + height, x : x + width] = images[index]
    return grid.transpose(1, 2, 0)


def as_hwc(images: Array, formats: str) -> Array:
    """Convert an image to the shape (H, W, 3). A batch of images is first arranged in one image.

    `formats` names the dimensions of `images`, such as "CHW" or "NCHW".
    """
    formats = formats.upper()
    if len(set(formats)) != len(formats):
        raise AssertionError(
            f"You can not use the same dimension shordhand twice.         input_format: {formats}"
        )
    if images.ndim != len(formats):
        raise AssertionError(
            "size of input tensor and input format are different. "
            f"        tensor shape: {images.shape}, input_format: {formats}"
        )
    if len(formats) == 4:
        return _grid(images.transpose([formats.find(c) for c in "NCHW"]))
    if len(formats) == 3:
        transposed = images.transpose([formats.find(c) for c in "HWC"])
        return np.concatenate([transposed] * 3, 2) if transposed.shape[2] == 1 else transposed
    if len(formats) == 2:
        transposed = images.transpose([formats.find(c) for c in "HW"])
        return np.stack([transposed] * 3, 2)
    raise ValueError(f"expected a format of 2 to 4 dimensions, such as 'CHW', got {formats!r}")


def image(tag: str, tensor: Any, formats: str = "CHW", rescale: float = 1) -> Summary:
    """Return a summary of an image: bytes, or floats from 0 to 1."""
    array = as_array(tensor)
    scale = 1 if array.dtype == np.uint8 else 255
    array = as_hwc(array, formats).astype(np.float32)
    return _create_summary(tag, image=_encode_image((array * scale).clip(0, 255).astype(np.uint8), rescale))


def image_boxes(
    tag: str, tensor: Any, boxes: Any, rescale: float = 1, formats: str = "CHW", labels: Any = None
) -> Summary:
    """Return a summary of an image with rectangles (x, y, x, y) and labels drawn on it."""
    array = as_hwc(as_array(tensor), formats).astype(np.float32)
    scale = 1 if as_array(tensor).dtype == np.uint8 else 255
    pixels = (array * scale).clip(0, 255).astype(np.uint8)
    return _create_summary(tag, image=_encode_image(pixels, rescale, as_array(boxes), labels))


def _encode_image(pixels: Array, rescale: float = 1, boxes: Array | None = None, labels: Any = None) -> Any:
    from PIL import Image, ImageDraw

    height, width, channels = pixels.shape
    picture = Image.fromarray(pixels)
    if boxes is not None:
        draw = ImageDraw.Draw(picture)
        for index, box in enumerate(boxes.tolist()):
            left, top, right, bottom = box
            corners = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
            draw.line(corners, width=2, fill="Red")
            if labels:
                draw.text((box[0], box[1]), str(labels[index]), fill="Red")
    height, width = int(height * rescale), int(width * rescale)
    if rescale != 1:
        picture = picture.resize((width, height), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    picture.save(file, format="PNG")
    return Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()
    )


def figure_pixels(figures: Any, close: bool = True) -> Array:
    """Return the pixels of a matplotlib figure (C, H, W), or of a list of figures (N, C, H, W)."""
    from matplotlib import pyplot
    from matplotlib.backends import backend_agg

    def draw_figure(figure: Any) -> Array:
        canvas: Any = backend_agg.FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.frombuffer(canvas.buffer_rgba(), np.uint8)
        width, height = canvas.get_width_height()
        if close:
            pyplot.close(figure)
        return pixels.reshape(height, width, 4)[:, :, :3].transpose(2, 0, 1)

    return np.stack([draw_figure(f) for f in figures]) if isinstance(figures, list) else draw_figure(figures)


def video(tag: str, tensor: Any, fps: float = 4) -> Summary:
    """Return a summary of clips (N, T, C, H, W), side by side, as an animated GIF."""
    from PIL import Image

    array = as_array(tensor)
    if array.ndim != 5:
        raise ValueError(f"expected a video of dimensions N, T, C, H, W, but got {array.ndim} dimensions")
    scale = 1 if array.dtype == np.uint8 else 255
    frames = np.stack([_grid(array[:, t]) for t in range(array.shape[1])]).astype(np.float32) * scale
    frames = frames.clip(0, 255).astype(np.uint8)
    pictures = [Image.fromarray(frame) for frame in frames]
    file = io.BytesIO()
    pictures[0].save(
        file, format="GIF", save_all=True, append_images=pictures[1:], duration=1000 / fps, loop=0
    )
    _, height, width, channels = frames.shape
    picture = Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()
    )
    return _create_summary(tag, image=picture)


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Summary:
    """Return a summary of audio samples in [-1, 1], as a 16-bit WAV file."""
    import wave

    waveform = as_array(tensor).squeeze()
    if abs(waveform).max() > 1:
        waveform = waveform.clip(-1, 1)
    if waveform.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    samples = (waveform * np.iinfo(np.int16).max).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(sample_rate)
        writer.writeframes(samples.tobytes())
    sound = Summary.Audio(
        sample_rate=sample_rate, num_channels=1, length_frames=samples.size,
        encoded_audio_string=file.getvalue(), content_type="audio/wav",
    )  # fmt: skip
    return _create_summary(tag, audio=sound)


# ---------------------------------------------------------------- texts, curves, meshes, layouts


def text(tag: str, value: str) -> Summary:
    """Return a summary of a Markdown text."""
    from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

    proto = TensorProto(dtype="DT_STRING", string_val=[value.encode()], tensor_shape=_shape([1]))
    metadata = _plugin("text", TextPluginData(version=0).SerializeToString())
    return _create_summary(f"{tag}/text_summary", tensor=proto, metadata=metadata)


def pr_curve_raw(tag: str, rows: Array, thresholds: int = 127) -> Summary:
    """Return a summary of a precision-recall curve with the rows tp, fp, tn, fn, precision and recall."""
    from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

    content = PrCurvePluginData(version=0, num_thresholds=min(thresholds, 127)).SerializeToString()
    proto = TensorProto(
        dtype="DT_FLOAT", float_val=rows.reshape(-1).tolist(), tensor_shape=_shape(rows.shape)
    )
    return _create_summary(tag, tensor=proto, metadata=_plugin("pr_curves", content))


def pr_curve(tag: str, labels: Any, predictions: Any, thresholds: int = 127, weights: Any = None) -> Summary:
    """Return a summary of the precision-recall curve of predictions from 0 to 1."""
    thresholds = min(thresholds, 127)
    labels, predictions = as_array(labels), as_array(predictions)
    weight = np.ones_like(labels, float) if weights is None else as_array(weights)
    buckets = np.int32(np.floor(predictions * (thresholds - 1)))
    hits = labels.astype(weight.dtype)
    span = (0, thresholds - 1)
    hit_counts, _ = np.histogram(buckets, bins=thresholds, range=span, weights=hits * weight)
    miss_counts, _ = np.histogram(buckets, bins=thresholds, range=span, weights=(1.0 - hits) * weight)
    tp, fp = np.cumsum(hit_counts[::-1])[::-1], np.cumsum(miss_counts[::-1])[::-1]
    tn, fn = fp[0] - fp, tp[0] - tp
    precision = tp / np.maximum(1e-7, tp + fp)
    recall = tp / np.maximum(1e-7, tp + fn)
    return pr_curve_raw(tag, np.stack((tp, fp, tn, fn, precision, recall)), thresholds)


def mesh(tag: str, vertices: Any, colors: Any, faces: Any, config: Any) -> Summary:
    """Return a summary of a 3-d mesh: vertices, colours and triangular faces."""
    from tensorboard.plugins.mesh import metadata
    from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData

    components_by_kind = [
        (vertices, MeshPluginData.VERTEX), (faces, MeshPluginData.FACE), (colors, MeshPluginData.COLOR),
    ]  # fmt: skip
    arrays = [(as_array(x), kind) for x, kind in components_by_kind if x is not None]
    components = metadata.get_components_bitmask([kind for _, kind in arrays])
    values = []
    for array, kind in arrays:
        summary_metadata = metadata.create_summary_metadata(
            tag, "", kind, components, array.shape, "", json_config=json.dumps(config or {}, sort_keys=True)
        )
        proto = TensorProto(
            dtype="DT_FLOAT", float_val=array.reshape(-1).tolist(), tensor_shape=_shape(array.shape)
        )
        values.append(
            Summary.Value(tag=metadata.get_instance_name(tag, kind), tensor=proto, metadata=summary_metadata)
        )
    return Summary(value=values)


def custom_scalars(layout: dict[str, dict[str, Any]]) -> Summary:
    """Return a summary of a chart layout.

    `layout` is a dict from category to a dict from chart title to (kind, tags of scalars).

    For example, {"losses": {"train and test": ["Multiline", ["train", "test"]]}}.
    """
    from tensorboard.plugins.custom_scalar import layout_pb2 as proto

    categories = []
    for category, charts in layout.items():
        category_charts = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError(f"Expected 3 tags, got {len(tags)}")
                series = proto.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                category_charts.append(
                    proto.Chart(title=title, margin=proto.MarginChartContent(series=[series]))
                )
            else:
                category_charts.append(
                    proto.Chart(title=title, multiline=proto.MultilineChartContent(tag=tags))
                )
        categories.append(proto.Category(title=category, chart=category_charts))
    content = proto.Layout(category=categories).SerializeToString()
    tensor = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=TensorShapeProto())
    return _create_summary("custom_scalars__config__", tensor=tensor, metadata=_plugin("custom_scalars"))
