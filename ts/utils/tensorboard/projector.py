"""Files of TensorBoard's embedding projector: points, labels and sprite images.

The example writes points and labels to a subdirectory of `runs/first`, without images:

    write_embedding("runs/first", points, ["cat", "dog"], None, 0, "animals", None)
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ts.utils.tensorboard.summary import as_array, as_hwc


def write_embedding(
    log_dir: str, mat: Any, metadata: Any, label_img: Any, step: Any, tag: str, header: Any
) -> None:
    """Write points, labels and a sprite image to a directory, and add them to the configuration."""
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    points = as_array(mat)
    if points.ndim != 2:
        raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
    subdirectory = f"{0 if step is None else step:05d}" if isinstance(step, int | None) else str(step)
    name = os.path.join(subdirectory, tag.replace("%", "%25").replace("/", "%2f").replace("\\", "%5c"))
    folder = os.path.join(log_dir, name)
    os.makedirs(folder, exist_ok=True)
    config = ProjectorConfig()
    path = os.path.join(log_dir, "projector_config.pbtxt")
    if os.path.exists(path):
        with open(path) as file:
            text_format.Parse(file.read(), config)
    entry = config.embeddings.add()
    entry.tensor_name = f"{tag}:{subdirectory}"
    entry.tensor_path = os.path.join(name, "tensors.tsv")
    if metadata is not None:
        if len(metadata) != points.shape[0]:
            raise AssertionError("#labels should equal with #data points")
        rows = (
            metadata
            if header is None
            else ["\t".join(header), *("\t".join(map(str, row)) for row in metadata)]
        )
        _write_lines(os.path.join(folder, "metadata.tsv"), map(str, rows))
        entry.metadata_path = os.path.join(name, "metadata.tsv")
    if label_img is not None:
        images = as_array(label_img)
        if images.shape[0] != points.shape[0]:
            raise AssertionError("#images should equal with #data points")
        _write_sprite(os.path.join(folder, "sprite.png"), images)
        entry.sprite.image_path = os.path.join(name, "sprite.png")
        entry.sprite.single_image_dim.extend([images.shape[3], images.shape[2]])
    _write_lines(os.path.join(folder, "tensors.tsv"), ("\t".join(map(str, row)) for row in points.tolist()))
    with open(path, "w") as file:
        file.write(text_format.MessageToString(config))


def _write_lines(path: str, lines: Any) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _write_sprite(path: str, images: np.ndarray[Any, Any]) -> None:
    """Write images (N, C, H, W) to a file as one square image."""
    from PIL import Image

    count = math.ceil(math.sqrt(images.shape[0]))
    missing = count * count - images.shape[0]
    full = np.concatenate([images, np.zeros((missing, *images.shape[1:]), images.dtype)])
    rows = [as_hwc(full[r * count : (r + 1) * count], "NCHW") for r in range(count)] if count <= 8 else None
    if rows is None:
        tiles = [[as_hwc(full[r * count + c], "CHW") for c in range(count)] for r in range(count)]
        rows = [np.concatenate(row, 1) for row in tiles]
    pixels = np.concatenate(rows, 0)
    scale = 1 if images.dtype == np.uint8 else 255
    Image.fromarray((pixels * scale).clip(0, 255).astype(np.uint8)).save(path)
