"""Serialization of values to plain data (tagged values) and zero-copy memory buffers of tensors.

The example encodes a list of a tensor and a dictionary, and decodes it:

    encoded = pack([x, {"n": 3}])
    encoded                       ([LIST, [TENSOR, 6, 0, 0, 0, (2,), (1,)], [DICT, "n", 3]], [memory])
    unpack(encoded)               [x, {"n": 3}]

None, bools, 64-bit ints, floats, strings and bytes are encoded as themselves. Other values are sequences that
start with a tag. Tensors that share memory in the sender also share memory in the receiver.

Security: encoded values cannot name code to run. `pack` raises an error for unsupported values, and `unpack`
for malformed data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ts import dtypes
from ts._core.tensor.size import Size
from ts._core.tensor.storage import owning_array
from ts._core.tensor.tensor import Tensor, wrap_array
from ts.archive.storages import Storage, StorageWriter, view
from ts.devices import device
from ts.nn.parameter import Parameter


class Tag:
    """Type tags at the start of encoded sequences (tagged union).

    They are plain ints, since every message compares them.
    """

    LIST: Final = 0
    TUPLE: Final = 1
    DICT: Final = 2
    TENSOR: Final = 3
    COMPLEX: Final = 4
    LONG: Final = 5  # int that does not fit into 64 bits, encoded as hexadecimal digits
    SIZE: Final = 6
    DTYPE: Final = 7
    DEVICE: Final = 8
    LAYOUT: Final = 9
    MEMORY_FORMAT: Final = 10
    REFERENCE: Final = 11
    SLICE: Final = 12
    SET: Final = 13
    FROZENSET: Final = 14
    NOMINAL: Final = 15  # instance of a class, enum or named tuple that occurs in the signature of the callee
    # value with tensors that require grad, sent within a distributed autograd context (see
    # `dist_autograd.send_recv_nodes`)
    WITH_GRADIENTS: Final = 16


class Flag(IntEnum):
    """Kinds of encoded tensors."""

    PLAIN = 0
    REQUIRES_GRAD = 1
    PARAMETER = 2
    FIXED_PARAMETER = 3  # Parameter with `requires_grad=False`
    WITH_GRADIENTS = 4  # tensor whose gradient the receiver sends back, within a distributed autograd context


class NominalTypeCodec(Protocol):
    """Codec that represents an instance of a script class by a type index and the attribute values."""

    def components(self, x: Any) -> tuple[int, list[Any]] | None:
        """Return the type index and attribute values of an instance, or None for an unknown class."""

    def build(self, type_index: Any, components: list[Any]) -> Any:
        """Return the instance with these attribute values. Raise an error if they are invalid."""


class WireContext(NamedTuple):
    """Codec of values that are sent by reference, such as RRefs, and of instances of script classes."""

    kind: type[Any]
    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]
    # codec for the instances of the classes in the callee's signature. If it is None, no instances are sent.
    signature: NominalTypeCodec | None = None


class MalformedValueError(ValueError):
    """Error for received data that is no valid value."""


_PLAIN: Final = frozenset((type(None), bool, float, str, bytes))
# If only one tensor uses a storage, and the storage is larger than the elements of the tensor by this factor,
# only the elements are sent.
_DENSE_STORAGE_RATIO: Final = 2
_CODES: Final[dict[int, Any]] = {
    Tag.DTYPE: dtypes.dtype,
    Tag.LAYOUT: dtypes.layout,
    Tag.MEMORY_FORMAT: dtypes.memory_format,
}
_BY_CODE: Final[dict[int, dict[int, Any]]] = {
    Tag.DTYPE: dict(dtypes.BY_CODE),
    Tag.LAYOUT: {dtypes.strided.code: dtypes.strided},
    Tag.MEMORY_FORMAT: {each.code: each for each in dtypes.MEMORY_FORMATS},
}

EncodedValue = tuple[Any, list[memoryview]]


def pack(
    value: Any, wire_context: WireContext | None = None, grad_tensors: list[Tensor] | None = None
) -> EncodedValue:
    """Encode a value as plain data and tensor memory. Raise TypeError for unsupported values.

    wire_context    codec of values that are sent by reference, or None if such values are not allowed
    grad_tensors    in a distributed autograd context, a list to which tensors that require grad are appended
    """
    packing = _Serializer(wire_context, grad_tensors)
    try:
        data = packing.pack(value)
    except RecursionError:
        raise ValueError("the value is nested too deeply or contains itself") from None
    return data, packing.memory()


class _Serializer:
    def __init__(self, wire_context: WireContext | None, grad_tensors: list[Tensor] | None) -> None:
        self.wire_context = wire_context
        self.grad_tensors = grad_tensors
        self.signature = None if wire_context is None else wire_context.signature
        self.storages = StorageWriter()
        # (tensor, list that represents it in the encoded value)
        self.tensors: list[tuple[Tensor, list[Any]]] = []
        # id of an array that owns memory -> number of tensors that use the memory
        self.users: Counter[int] = Counter()

    def pack(self, x: Any) -> Any:
        kind = type(x)
        if kind in _PLAIN:
            return x
        if kind is int:
            return x if -(1 << 63) <= x < 1 << 63 else (Tag.LONG, f"{x:x}")
        if isinstance(x, Tensor):
            return self._tensor(x)
        if self.wire_context is not None and isinstance(x, self.wire_context.kind):
            return Tag.REFERENCE, self.wire_context.pack(x)
        if kind is list:
            return Tag.LIST, *map(self.pack, x)
        if kind is set:
            return Tag.SET, *map(self.pack, x)
        if kind is frozenset:
            return Tag.FROZENSET, *map(self.pack, x)
        if kind is Size:
            return Tag.SIZE, *x
        if kind is tuple:
            return Tag.TUPLE, *map(self.pack, x)
        if kind is dict:
            return Tag.DICT, *(self.pack(element) for pair in x.items() for element in pair)
        if kind is complex:
            return Tag.COMPLEX, x.real, x.imag
        if isinstance(x, device):
            return Tag.DEVICE, str(x)
        if kind is slice:
            return Tag.SLICE, *map(self.pack, (x.start, x.stop, x.step))
        for tag, coded in _CODES.items():
            if isinstance(x, coded):
                return tag, x.code
        if self.signature is not None:
            encoded = self.signature.components(x)
            if encoded is not None:
                type_index, components = encoded
                return Tag.NOMINAL, type_index, *map(self.pack, components)
        raise TypeError(
            f"an object of class {kind.__module__}.{kind.__qualname__} cannot be sent to another process; "
            "supported are numbers, strings, bytes, lists, tuples, dicts, sets, tensors, and objects of "
            "classes in the signature of a scripted function"
        )

    def _tensor(self, x: Tensor) -> Any:
        if x.device.type != "cpu":
            raise RuntimeError(
                f"only CPU tensors can be sent, found a tensor on {x.device}: move it to the CPU first"
            )
        flag = Flag.REQUIRES_GRAD if x.requires_grad else Flag.PLAIN
        if isinstance(x, Parameter):
            flag = Flag.PARAMETER if x.requires_grad else Flag.FIXED_PARAMETER
        shares_memory = False
        if self.grad_tensors is not None and x.requires_grad:
            flag = Flag.WITH_GRADIENTS
            self.grad_tensors.append(x)
            # If an earlier tensor of this message uses the same memory, clone this tensor. Otherwise, both
            # tensors would share memory at the receiver, and autograd would not notice that a write to one
            # changes the other.
            shares_memory = self.users[id(owning_array(x.array))] > 0
        x = x.detach()
        if shares_memory or x.is_conj() or x.is_neg():
            x = x.clone()
        entry = [Tag.TENSOR, x.dtype.code, int(flag)]
        self.tensors.append((x, entry))
        self.users[id(owning_array(x.array))] += 1
        return entry

    def memory(self) -> list[memoryview]:
        """Return the memory buffers of all tensors.

        The index of the buffer, the offset and the strides are added to the encoded metadata of each tensor.
        """
        buffers: list[Any] = []
        buffer_indices: dict[str, int] = {}  # key of a storage that is sent as a whole -> index of its buffer
        for x, entry in self.tensors:
            array = x.array
            owner = owning_array(array)
            is_only_user = self.users[id(owner)] == 1
            if (
                is_only_user
                and not array.flags.c_contiguous
                and array.nbytes * _DENSE_STORAGE_RATIO < owner.nbytes
            ):
                array = np.ascontiguousarray(array)
            if is_only_user and array.flags.c_contiguous and array.nbytes:
                entry += len(buffers), 0, array.shape, [step // array.itemsize for step in array.strides]
                buffers.append(array.reshape(-1).view(np.uint8).data)
                continue
            storage_ref = self.storages.storage_ref(x)
            if storage_ref.key not in buffer_indices:
                buffer_indices[storage_ref.key] = len(buffers)
                buffers.append(self.storages.arrays[storage_ref.key].data)
            entry += buffer_indices[storage_ref.key], storage_ref.offset, storage_ref.size, storage_ref.stride
        return buffers


def unpack(
    encoded: Any, wire_context: WireContext | None = None, grad_tensors: list[Tensor] | None = None
) -> Any:
    """Decode a value. Its tensors use the received memory.

    Raise MalformedValueError for invalid data. A tensor whose gradient must be sent back to the sender is
    appended to `grad_tensors`.
    """
    try:
        data, memory = encoded
        return _Deserializer(memory, wire_context, grad_tensors).unpack(data)
    except Exception as error:  # malformed data may cause any exception
        raise MalformedValueError(f"malformed value: {error}") from error


class _Deserializer:
    def __init__(
        self, memory: Sequence[Any], wire_context: WireContext | None, grad_tensors: list[Tensor] | None
    ) -> None:
        self.memory = memory
        self.wire_context = wire_context
        self.grad_tensors = grad_tensors
        # (index of a received buffer, dtype) -> array that views the buffer
        self.storages: dict[tuple[int, int], NDArray[Any]] = {}
        self.bytes: dict[int, NDArray[np.uint8]] = {}

    def unpack(self, x: Any) -> Any:
        if not isinstance(x, tuple):
            if isinstance(x, memoryview):
                return bytes(x)
            if isinstance(x, dict):
                raise MalformedValueError("expected a tagged value, found a dict")
            return x
        tag, *fields = x
        match tag:
            case Tag.LIST:
                return list(map(self.unpack, fields))
            case Tag.TUPLE:
                return tuple(map(self.unpack, fields))
            case Tag.DICT:
                values = iter(map(self.unpack, fields))
                return dict(zip(values, values, strict=True))
            case Tag.TENSOR:
                return self._tensor(*fields)
            case Tag.COMPLEX:
                real, imaginary = map(float, fields)
                return complex(real, imaginary)
            case Tag.LONG:
                return int(fields[0], 16)
            case Tag.SIZE:
                return Size(fields)
            case Tag.DEVICE:
                return device(fields[0])
            case Tag.SLICE:
                start, stop, step = map(self.unpack, fields)
                return slice(start, stop, step)
            case Tag.SET:
                return set(map(self.unpack, fields))
            case Tag.FROZENSET:
                return frozenset(map(self.unpack, fields))
            case Tag.REFERENCE if self.wire_context is not None:
                return self.wire_context.unpack(fields[0])
            case Tag.NOMINAL if self.wire_context is not None and self.wire_context.signature is not None:
                type_index, *inside = fields
                return self.wire_context.signature.build(type_index, [*map(self.unpack, inside)])
            case Tag.DTYPE | Tag.LAYOUT | Tag.MEMORY_FORMAT:
                return _BY_CODE[tag][fields[0]]
        raise MalformedValueError(f"unknown tag {tag!r}")

    def _tensor(self, code: int, flag: int, key: int, offset: int, size: Any, stride: Any) -> Tensor:
        elements = self.storages.get((key, code))
        if elements is None:
            elements = self.storages[key, code] = self._bytes(key).view(dtypes.BY_CODE[code].numpy_dtype)
        x = wrap_array(view(Storage(elements, "cpu"), offset, size, stride))
        match Flag(flag):
            case Flag.PLAIN:
                return x
            case Flag.REQUIRES_GRAD:
                return x.requires_grad_()
            case Flag.PARAMETER:
                return Parameter(x)
            case Flag.WITH_GRADIENTS:
                return self._add_grad_tensor(x)
        return Parameter(x, requires_grad=False)

    def _add_grad_tensor(self, x: Tensor) -> Tensor:
        if self.grad_tensors is None or not (x.is_floating_point() or x.is_complex()):
            raise MalformedValueError("unexpected request for the gradient of a tensor")
        self.grad_tensors.append(x)
        return x

    def _bytes(self, key: int) -> NDArray[np.uint8]:
        """Return a received buffer as a writable uint8 array.

        Read-only buffers, such as those of short tensors, are copied.
        """
        array = self.bytes.get(key)
        if array is None:
            if type(key) is not int or key < 0:
                raise MalformedValueError(f"invalid index of a buffer: {key!r}")
            array = np.frombuffer(self.memory[key], np.uint8)
            array = self.bytes[key] = array if array.flags.writeable else array.copy()
        return array
