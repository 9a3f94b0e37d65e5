"""Tensor serialization in `.pt2` archives, as strided views of byte records that tensors may share.

Example:

    TensorFolder(container, "weights").read()          returns {"l.weight": a Parameter, ...}
    WrittenFolder(writer, "weights").add(name, x)      writes the layout of x, and its bytes as a record
"""

from __future__ import annotations

import io
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ts import devices, dtypes
from ts._core.tensor.tensor import Tensor, wrap_array
from ts.archive import torch_save
from ts.archive.storages import Storage, StorageWriter, view
from ts.archive.zip_records import device_named
from ts.errors import ArchiveError, MissingCudaError
from ts.export.pt2_format import json_codec, schema
from ts.export.pt2_format.container import Container, ContainerWriter
from ts.nn.parameter import Parameter

_DTYPES: Final = {d.pt2_code: d for d in dtypes.ALL if d.pt2_code}
_PREFIXES: Final = {"weights": "weight_", "constants": "tensor_"}
_MAX_DIMENSIONS: Final = 64


def dtype_of(code: int) -> dtypes.dtype:
    """Return the dtype with the code `code`. Raise ArchiveError if it is unsupported."""
    dtype = _DTYPES.get(code)
    if dtype is None:
        raise ArchiveError(f"the file has tensors of the dtype {code}, which ts does not support")
    return dtype


def dtype_code(dtype: dtypes.dtype) -> int:
    """Return the code of a dtype in archives."""
    if dtype.pt2_code is None:
        raise ArchiveError(f"files of exported programs cannot contain tensors of {dtype}")
    return dtype.pt2_code


def device_of(written: schema.Device) -> devices.device:
    """Decode a device."""
    return device_named(written.type if written.index is None else f"{written.type}:{written.index}")


def check_layout(code: int) -> None:
    """Raise ArchiveError if the layout code is not that of strided tensors."""
    if code != schema.STRIDED_LAYOUT_CODE:
        raise ArchiveError(f"the file has tensors of the layout {code}, which ts does not support")


class TensorFolder:
    """Reader of the tensors in the folder of weights or of constants."""

    def __init__(self, container: Container, name: str) -> None:
        self.container = container
        self.folder = f"data/{name}"
        self.config = f"{self.folder}/{container.model}_{name}_config.json"
        self.bytes: dict[str, NDArray[np.uint8]] = {}

    def read(self) -> dict[str, Any]:
        """Load all tensors by name."""
        if not self.container.has(self.config):
            return {}
        payloads = json_codec.read(self.container.text(self.config), schema.Payloads, self.config)
        return {name: self.tensor(name, payload) for name, payload in payloads.config.items()}

    def tensor(self, name: str, payload: schema.Payload) -> Any:
        """Load a tensor."""
        record = f"{self.folder}/{payload.path_name}"
        if payload.use_pickle:
            tensor = torch_save.load(io.BytesIO(self.container.records.bytes(record)))
            if not isinstance(tensor, Tensor):
                raise ArchiveError(f"{name} is not a tensor")
        elif payload.tensor_meta is None:
            raise ArchiveError(f"the record {record} has no storage reference for {name}")
        else:
            tensor = self.view_of_record(record, payload.tensor_meta)
        requires_grad = payload.tensor_meta is not None and payload.tensor_meta.requires_grad
        if payload.is_param:
            return Parameter(tensor.detach(), requires_grad)
        return tensor.detach().requires_grad_() if requires_grad else tensor

    def view_of_record(self, record: str, meta: schema.TensorMeta) -> Tensor:
        """Create a tensor as a view of the record `record`.

        `meta` contains the sizes, strides and storage offset.
        """
        check_layout(meta.layout)
        dtype = dtype_of(meta.dtype)
        data = self.bytes.get(record)
        if data is None:
            entry = self.container.records.entries.get(record)
            size = 0 if entry is None else entry.file_size
            data = self.bytes[record] = self.container.records.storage(record, size)
        elements = data[: len(data) - len(data) % dtype.itemsize].view(dtype.numpy_dtype)
        numbers = [*meta.sizes, *meta.strides, meta.storage_offset]
        if any(n.kind != "as_int" for n in numbers) or len(meta.sizes) > _MAX_DIMENSIONS:
            raise ArchiveError(f"the tensor in {record} has invalid sizes")
        sizes, strides = (tuple(n.value for n in each) for each in (meta.sizes, meta.strides))
        storage = Storage(elements, "cpu")
        tensor = wrap_array(view(storage, meta.storage_offset.value, sizes, strides))
        target = device_of(meta.device)
        try:
            return tensor if target.type == "cpu" else tensor.to(target)
        except MissingCudaError as error:
            raise MissingCudaError(f"the file has tensors on {target}: {error}") from None


class WrittenFolder:
    """Writer of the tensors in the folder of weights or of constants."""

    def __init__(self, writer: ContainerWriter, name: str) -> None:
        self.writer = writer
        self.name = name
        self.storages = StorageWriter()
        self.config: dict[str, schema.Payload] = {}

    def add(self, name: str, x: Any) -> None:
        """Add the tensor `x` under the name `name`."""
        storage_ref = self.storages.storage_ref(x.detach())
        self.config[name] = schema.Payload(
            f"{_PREFIXES[self.name]}{storage_ref.key}",
            isinstance(x, Parameter),
            False,
            meta_of(
                x.dtype, storage_ref.size, storage_ref.stride, storage_ref.offset, x.device, x.requires_grad
            ),
        )

    def write(self, model: str) -> None:
        """Write all tensor records and the config record."""
        folder = f"data/{self.name}"
        for key, elements in self.storages.arrays.items():
            self.writer.record(f"{folder}/{_PREFIXES[self.name]}{key}", elements.data)
        config = json_codec.write(schema.Payloads(self.config))
        self.writer.record(f"{folder}/{model}_{self.name}_config.json", config)


def meta_of(
    dtype: dtypes.dtype, sizes: Any, strides: Any, offset: Any, device: devices.device, requires_grad: bool
) -> schema.TensorMeta:
    """Encode tensor metadata for the archive."""
    from ts.export.pt2_format.symbols import chosen

    def numbers(values: Any) -> list[Any]:
        return [chosen(schema.SymInt, n, "as_int") for n in values]

    return schema.TensorMeta(
        dtype_code(dtype), numbers(sizes), bool(requires_grad), schema.Device(device.type, device.index),
        numbers(strides), chosen(schema.SymInt, offset, "as_int"),
    )  # fmt: skip
