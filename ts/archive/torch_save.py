"""Serialization (`ts.save`) and deserialization (`ts.load`) of values in the ZIP format of `torch.save`.

PyTorch and `ts` can read each other's files. The example writes a file and reads it:

    ts.save({"weight": x, "step": 3}, "state.pt")
    ts.load("state.pt", map_location="cpu")

Records of the file:

Security: with `weights_only=True` (the default), reading constructs only objects of listed types, such as
numbers, strings, containers and tensors. With `weights_only=False`, reading imports and calls all classes and
functions that are named in the file. Use it only for trusted files.

Files contain PyTorch's names for classes of `ts`.
"""

from __future__ import annotations

import codecs
import copyreg
import io
import os
import pickle
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import cache, partial
from types import FunctionType
from typing import IO, Any, Final

import numpy as np

from ts import devices, dtypes
from ts._core.tensor.interop import is_wrapper, sparse_components, sparse_from_components
from ts._core.tensor.object_state import get_state, set_state
from ts._core.tensor.size import Size
from ts._core.tensor.storage import TypedStorage, UntypedStorage
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import DisableTorchFunction
from ts.archive import legacy_format, quantized
from ts.archive.safe_globals import safe_global
from ts.archive.storages import LoadedStorage, Storage, StorageWriter, TensorStorageRef, storage_type
from ts.archive.unpickler import Global, Unpickler, ordered_dict
from ts.archive.zip_records import Location, TensorLoader, ZipRecords, device_named
from ts.archive.zip_writer import write_atomically, write_record
from ts.errors import ArchiveError
from ts.module_names import is_own, torch_name

_VERSION: Final = 3
_PROTOCOL: Final = 2


class _GlobalName:
    """Placeholder for a PyTorch function or class, which the pickler writes as a global name."""

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __call__(self, *args: Any) -> Any:
        raise TypeError("this is a name in a pickle")


class _StorageReference:
    """Persistent id of a storage in a pickle."""

    def __init__(self, identity: tuple[Any, ...]) -> None:
        self.identity = identity


_TENSOR: Final = _GlobalName("torch._utils", "_rebuild_tensor_v2")
_TENSOR_OF_DTYPE: Final = _GlobalName("torch._utils", "_rebuild_tensor_v3")
_SPARSE_TENSOR: Final = _GlobalName("torch._utils", "_rebuild_sparse_tensor")
_LAYOUT: Final = _GlobalName("torch.serialization", "_get_layout")
_PARAMETER: Final = _GlobalName("torch._utils", "_rebuild_parameter")
_PARAMETER_WITH_STATE: Final = _GlobalName("torch._utils", "_rebuild_parameter_with_state")
_WRAPPER: Final = _GlobalName("torch._utils", "_rebuild_wrapper_subclass")
_WITH_ATTRIBUTES: Final = _GlobalName("torch._tensor", "_rebuild_from_type_v2")
_TENSOR_CLASS: Final = _GlobalName("torch", "Tensor")
_SIZE: Final = _GlobalName("torch", "Size")
_DEVICE: Final = _GlobalName("torch", "device")
_DTYPES: Final = {d: _GlobalName("torch", d.name) for d in dtypes.ALL}


# The pickler that is written in Python. The C pickler is not suitable, because it rejects names in modules
# that do not exist, such as `torch`.
_PythonPickler: Any = pickle._Pickler  # type: ignore[attr-defined]


class _TensorPickler(_PythonPickler):  # type: ignore[misc]
    """Pickler that writes tensors as storage references and names of `ts` as names of PyTorch."""

    def __init__(self, file: IO[bytes], legacy: bool = False) -> None:
        super().__init__(file, _PROTOCOL)
        self.legacy = legacy
        self.storages = StorageWriter()
        self.references: dict[str, _StorageReference] = {}
        self.named: dict[Any, _GlobalName] = {}

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, _GlobalName):
            memoized = self.memo.get(id(obj))
            if memoized is not None:
                self.write(self.get(memoized[0]))
                return
            self.write(f"c{obj.module}\n{obj.name}\n".encode())
            self.memoize(obj)
            return
        super().save(obj, save_persistent_id)

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write a class or function by name.

        Classes and functions of `ts` are written under their PyTorch names.
        """
        if is_own(getattr(obj, "__module__", "")):
            self.save(self.named.setdefault(obj, _name_in_pytorch(obj)))
        else:
            super().save_global(obj, name)

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, TypedStorage | UntypedStorage):
            return self.reference(self.storages.storage_ref_of_storage(obj)).identity
        return obj.identity if isinstance(obj, _StorageReference) else None

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            if _defines_reduction(type(obj)):
                return NotImplemented
            with DisableTorchFunction():
                return self.tensor(obj)
        if hasattr(type(obj), "archived"):
            raise ArchiveError(
                f"Tried to serialize object of type {type(obj).__name__} which does not have a __getstate__ "
                "method defined! ts.jit.save writes scripted modules and functions"
            )
        if isinstance(obj, dtypes.layout):
            return _LAYOUT, (str(obj),)
        if isinstance(obj, Size):
            return _SIZE, (tuple(obj),)
        if isinstance(obj, devices.device):
            return _DEVICE, (obj.type,) if obj.index is None else (obj.type, obj.index)
        # `Module.state_dict` returns an instance of a subclass of OrderedDict. PyTorch lacks this class, so
        # write the instance as an OrderedDict.
        if isinstance(obj, OrderedDict) and is_own(type(obj).__module__):
            return OrderedDict, (), dict(vars(obj)), None, iter(obj.items())
        return NotImplemented

    def reference(self, storage_ref: TensorStorageRef) -> _StorageReference:
        """Return the persistent id of the storage that `storage_ref` denotes.

        Raise RuntimeError if an earlier reference to the storage has another storage class.
        """
        reference = self.references.get(storage_ref.key)
        if reference is None:
            identity = (
                "storage",
                _storage_class_name(storage_ref.storage),
                storage_ref.key,
                storage_ref.location,
                storage_ref.numel,
            )
            reference = _StorageReference((*identity, None) if self.legacy else identity)
            self.references[storage_ref.key] = reference
        if reference.identity[1] is not _storage_class_name(storage_ref.storage):
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types"
            )
        return reference

    def tensor(self, x: Tensor) -> Any:
        from ts.nn.parameter import Parameter

        if is_wrapper(x):
            metadata = x.storage_offset(), x.layout, x.device, x.requires_grad
            build_arguments = type(x), x.dtype, tuple(x.shape), x.stride(), *metadata
            return _WITH_ATTRIBUTES, (_WRAPPER, type(x), build_arguments, dict(x.__dict__))
        if isinstance(x, Parameter):
            data, state = x.detach(), get_state(x)
            if state:
                return _PARAMETER_WITH_STATE, (data, x.requires_grad, OrderedDict(), state)
            return _PARAMETER, (data, x.requires_grad, OrderedDict())
        if x.layout is not dtypes.strided:
            *components, size = _sparse_components(x)
            return _with_class(x, _SPARSE_TENSOR, (x.layout, (*components, *size)))
        storage_ref = self.storages.storage_ref(x)
        untyped = storage_ref.storage == "UntypedStorage"
        arguments: tuple[Any, ...] = (
            self.reference(storage_ref), storage_ref.offset, storage_ref.size, storage_ref.stride,
            x.requires_grad, OrderedDict(),
        )  # fmt: skip
        build = _TENSOR
        if untyped:
            build, arguments = _TENSOR_OF_DTYPE, (*arguments, _DTYPES[x.dtype])
        return _with_class(x, build, arguments)


def _with_class(x: Tensor, build: _GlobalName, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the call of `build` in a pickle, with the class and the Python state of `x` if it has any."""
    state = get_state(x)
    if type(x) is Tensor and not state:
        return build, arguments
    cls = _TENSOR_CLASS if is_own(type(x).__module__) else type(x)
    return _WITH_ATTRIBUTES, (build, cls, arguments, state)


def _defines_reduction(cls: type) -> bool:
    """Return whether a tensor class of the program defines `__reduce_ex__`."""
    owners = [base for base in cls.__mro__ if isinstance(vars(base).get("__reduce_ex__"), FunctionType)]
    return not is_own(owners[0].__module__)


def _sparse_components(x: Tensor) -> tuple[Any, ...]:
    """Return the components of a sparse tensor: its tensors, its size, and for COO also `is_coalesced`."""
    components = sparse_components(x)
    tensors = [component for component in components if isinstance(component, Tensor)]
    return (*tensors, (Size(components[len(tensors)]), *components[len(tensors) + 1 :]))


def _sparse_tensor(layout: Any, components: Any) -> Tensor:
    """Build a sparse tensor from its components. Raise ArchiveError if they are inconsistent."""
    count = 2 if layout is dtypes.sparse_coo else 3
    is_supported = layout in (dtypes.sparse_coo, dtypes.sparse_csr, dtypes.sparse_csc) and isinstance(
        components, tuple
    )
    if (
        not is_supported
        or len(components) < count + 1
        or not all(isinstance(x, Tensor) for x in components[:count])
    ):
        raise ArchiveError(f"a tensor of layout {layout} must consist of its indices, values and size")
    size = components[count]
    if not isinstance(size, (tuple, list)) or not all(isinstance(n, int) and n >= 0 for n in size):
        raise ArchiveError(
            f"the size of a sparse tensor must be a tuple of non-negative ints, found {size!r}"
        )
    try:
        return sparse_from_components(layout, components)
    except (RuntimeError, ValueError, TypeError) as error:
        raise ArchiveError(f"the components of a sparse tensor are inconsistent: {error}") from error


def _layout(name: Any) -> dtypes.layout:
    """Return the layout that a name in the file denotes. Raise ArchiveError for other names."""
    layout = next((x for x in dtypes.LAYOUTS.values() if str(x) == name), None)
    if layout is None:
        raise ArchiveError(f"unknown layout {name!r}")
    return layout


def _name_in_pytorch(obj: Any) -> _GlobalName:
    """Return the PyTorch name of a class or function of `ts`.

    For members of `ts.nn` and `ts.nn.functional`, the name contains the package instead of the defining
    module.
    """
    from ts import nn
    from ts.nn import functional

    name: str = obj.__name__
    for package, module in (("torch.nn", nn), ("torch.nn.functional", functional)):
        if hasattr(module, name) and getattr(module, name) is obj:
            return _GlobalName(package, name)
    return _GlobalName(torch_name(obj.__module__), obj.__qualname__)


@cache
def _storage_class_name(name: str) -> _GlobalName:
    return _GlobalName("torch.storage" if name == "UntypedStorage" else "torch", name)


def _save_dtype(writer: Any, d: dtypes.dtype) -> None:
    writer.save(_DTYPES[d])


_TensorPickler.dispatch = {
    **_PythonPickler.dispatch,
    dtypes.dtype: _save_dtype,
    FunctionType: _TensorPickler.save_global,
}


def save(
    obj: Any,
    f: str | os.PathLike[str] | IO[bytes],
    pickle_module: Any = pickle,
    pickle_protocol: int = _PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write a value to a path or an open file, as `torch.save` does."""
    write = _write if _use_new_zipfile_serialization else _write_legacy
    if isinstance(f, (str, os.PathLike)):
        write_atomically(os.fspath(f), partial(write, obj))
    elif not _use_new_zipfile_serialization:
        _write_legacy(obj, f, "")
    else:
        buffer = io.BytesIO()
        write(obj, buffer, "archive")
        f.write(buffer.getbuffer())


def _write(obj: Any, file: IO[bytes], root: str) -> None:
    data = io.BytesIO()
    writer = _TensorPickler(data)
    writer.dump(obj)
    with zipfile.ZipFile(file, "w") as archive:
        write_record(archive, f"{root}/data.pkl", data.getvalue())
        write_record(archive, f"{root}/byteorder", b"little")
        for key, elements in writer.storages.arrays.items():
            write_record(archive, f"{root}/data/{key}", elements.data)
        write_record(archive, f"{root}/version", f"{_VERSION}\n".encode())


def _write_legacy(obj: Any, file: IO[bytes], root: str) -> None:
    data = io.BytesIO()
    writer = _TensorPickler(data, legacy=True)
    writer.dump(obj)
    numel_by_key = {reference.identity[2]: reference.identity[4] for reference in writer.references.values()}
    storages = writer.storages.arrays.items()
    legacy_format.write(
        file, data.getvalue(), ((key, numel_by_key[key], elements) for key, elements in storages)
    )


# function (pickle, loader of its tensors) -> the unpickled value
_BuildFunction = Callable[[bytes, "_ZipTensorLoader"], Any]


class IsTorchScriptArchiveError(ArchiveError):
    """Raised if `ts.load` is called with a file of `ts.jit.save`."""


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: Location = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = True,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read a value from a file of `torch.save` or `ts.save`.

    map_location  target of tensors: a device, a dictionary from device names in the file to device names,
                  None for the devices in the file, or a function. The function receives a storage's
                  elements on the CPU and the device name. It returns the moved elements, or None to leave
                  them on the CPU.
    weights_only  False to construct objects of any class. Otherwise, only numbers, strings, containers,
                  tensors and the other types in the module's docstring are allowed.
    mmap          True to map large tensors into memory: pages are read on first access, and writes to the
                  tensors do not change the file
    encoding      codec of strings that Python 2 wrote. "bytes" keeps them as bytes.
    """
    options = {"encoding": "utf-8", **pickle_load_args}
    is_trusted = weights_only is not None and not weights_only
    build: _BuildFunction = (
        partial(_unpickle_unrestricted, options) if is_trusted else partial(_value, options["encoding"])
    )
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, map_location, build, bool(mmap))
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    try:
        begin = f.tell()
    except (AttributeError, OSError):  # `f` is not seekable, for example a pipe
        return _load(io.BytesIO(f.read()), map_location, build, False)
    contents = _read_rest(f)
    value = _load(contents, map_location, build, False)
    f.seek(begin + contents.tell())  # another value may follow in the file
    return value


def _read_rest(f: IO[bytes]) -> io.BytesIO:
    """Return the rest of a file as BytesIO.

    If `f` has the method `readinto`, the contents are read without an extra copy.
    """
    if not hasattr(f, "readinto"):
        return io.BytesIO(f.read())
    begin = f.tell()
    f.seek(0, io.SEEK_END)
    size = f.tell() - begin
    f.seek(begin)
    contents = io.BytesIO()
    if size > 0:
        contents.seek(size - 1)
        contents.write(b"\0")
        contents.seek(0)
        with contents.getbuffer() as memory:
            filled = 0
            while filled < size and (count := f.readinto(memory[filled:])):
                filled += count
        contents.truncate(filled)
    return contents


def _load(file: IO[bytes], map_location: Location, build: _BuildFunction, mapped: bool) -> Any:
    """Load the value at the start of a file, and set the file position to the end of the value."""
    beginning = file.read(len(legacy_format.BEGINNING))
    file.seek(0)
    if beginning == legacy_format.BEGINNING:
        sections = legacy_format.read(file)
        file.seek(sections.end)
        return build(sections.pickle, _LegacyTensorLoader(sections.storages, map_location))
    if not beginning.startswith(b"PK"):
        raise ArchiveError("the file is not a zip file: it is damaged or was written by PyTorch before 0.2")
    with ZipRecords(file, scripted=False, mapped=mapped) as records:
        if records.has("constants.pkl"):
            raise IsTorchScriptArchiveError("the file contains a scripted module; read it with ts.jit.load")
        value = build(records.bytes("data.pkl"), _ZipTensorLoader(records, map_location))
    file.seek(0, io.SEEK_END)
    return value


def _value(encoding: str, data: bytes, reader: _ZipTensorLoader) -> Any:
    """Unpickle a value. Raise an error for objects of types that are not allowed."""
    return Unpickler(data, reader.name, partial(reader.storage, "data"), encoding).load()


def _unpickle_unrestricted(options: dict[str, Any], data: bytes, reader: _ZipTensorLoader) -> Any:
    """Unpickle a value of a trusted file without restrictions, which permits arbitrary code execution."""
    return _UnrestrictedUnpickler(data, reader, options).load()


class _UnrestrictedUnpickler(pickle.Unpickler):
    """Unpickler that imports any name, for trusted files. Names of PyTorch are resolved in `ts`."""

    def __init__(self, data: bytes, reader: _ZipTensorLoader, options: dict[str, Any]) -> None:
        super().__init__(io.BytesIO(data), **options)
        self.reader = reader

    def find_class(self, module: str, name: str) -> Any:
        """Resolve a global name without restrictions."""
        global_object = self.reader.find_global(module, name)
        if global_object is not None:
            return global_object
        _check_tensor_kind(module, name)
        if module.partition(".")[0] != "torch":
            return super().find_class(module, name)
        from ts import nn

        if module.startswith("torch.nn.modules.") and hasattr(nn, name):
            return getattr(nn, name)
        return super().find_class(f"ts{module.removeprefix('torch')}", name)

    def persistent_load(self, pid: Any) -> Any:
        """Load the storage that a persistent id denotes."""
        return self.reader.storage("data", pid)


class _ZipTensorLoader(TensorLoader):
    """Resolver of the global names and storage references in the pickle of a file."""

    values: dict[int, LoadedStorage]

    def __init__(self, records: ZipRecords, map_location: Location) -> None:
        super().__init__(records, map_location)
        self.values = {}

    def name(self, module: str, name: str) -> Any:
        global_object = self.find_global(module, name)
        if global_object is None:
            _check_tensor_kind(module, name)
            raise pickle.UnpicklingError(
                f"Weights only load failed. Unsupported global: GLOBAL {module}.{name} was not an allowed "
                f"global by default. Please use `torch.serialization.add_safe_globals([{module}.{name}])` or "
                f"the `torch.serialization.safe_globals([{module}.{name}])` context manager to "
                "allowlist this global if you trust this class/function; "
                "weights_only=False says that the file may run code."
            )
        return global_object

    def find_global(self, module: str, name: str) -> Any:
        """Return the object or unpickling rules for a global name, or None if files must not contain it."""
        full = f"{module}.{name}".replace("__builtin__.", "builtins.")
        if module == "torch" and name in dtypes.NAMES:
            return dtypes.by_name(name)
        if module in ("torch", "torch.storage") and (
            storage_type(name, in_module=True) is not None or name == "Tensor"
        ):
            return Global(name)
        if full in quantized.SCHEMES:
            return Global(name)
        calls: dict[str, Any] = {
            "torch._utils._rebuild_tensor": self.rebuild_old_tensor,
            "torch._utils._rebuild_tensor_v2": self.tensor,
            "torch._utils._rebuild_tensor_v3": self.rebuild_tensor_of_dtype,
            "torch._utils._rebuild_meta_tensor_no_storage": _meta_tensor,
            "torch._utils._rebuild_sparse_tensor": _sparse_tensor,
            "torch.serialization._get_layout": _layout,
            quantized.REBUILD: self.quantized_tensor,
            "torch._utils._rebuild_parameter": _parameter,
            "torch._utils._rebuild_parameter_with_state": _parameter_with_state,
            "torch._tensor._rebuild_from_type_v2": _with_attributes,
            "torch._utils._rebuild_wrapper_subclass": _wrapper,
            "torch.Size": Size,
            "torch.device": _device,
            "builtins.complex": complex,
            "builtins.set": set,
            "builtins.frozenset": frozenset,
            "builtins.bytearray": _bytearray,
            "builtins.slice": slice,
            "collections.Counter": Counter,
            "_codecs.encode": _bytes,
        }
        if full == "collections.OrderedDict":
            return Global(full, ordered_dict, build=_set_attributes)
        return Global(full, calls[full]) if full in calls else safe_global(full)

    def storage(self, archive: str, reference: Any) -> Any:
        """Load the storage that a persistent id denotes."""
        return self.get_loaded_storage(super().storage(archive, reference))

    def get_loaded_storage(self, stored: Storage) -> LoadedStorage:
        """Return the storage object for loaded elements. Repeated references return the same object."""
        storage = self.values.get(id(stored.elements))
        if storage is None:
            storage = self.values[id(stored.elements)] = LoadedStorage(stored, self.map_to_device)
        return storage

    def tensor(self, storage: Any, *storage_ref: Any) -> Tensor:
        """Return the tensor for a loaded storage and the remaining fields of its storage reference."""
        return super().tensor(storage.stored if isinstance(storage, LoadedStorage) else storage, *storage_ref)

    def rebuild_old_tensor(self, storage: Any, offset: Any, size: Any, stride: Any) -> Tensor:
        """Rebuild a tensor of a file of PyTorch before 0.4, whose storage references lack `requires_grad`."""
        return self.tensor(storage, offset, size, stride, False, None)

    def rebuild_tensor_of_dtype(
        self,
        storage: Any,
        offset: Any,
        size: Any,
        stride: Any,
        grad: Any,
        hooks: Any,
        dtype: Any,
        marks: Any = None,
    ) -> Tensor:
        """Rebuild a tensor from an untyped storage, whose bytes are interpreted as elements of `dtype`."""
        if not isinstance(storage, LoadedStorage) or not isinstance(dtype, dtypes.dtype):
            raise ArchiveError("a tensor has no valid storage or dtype")
        storage = storage.stored
        if len(storage.elements) % dtype.itemsize:
            raise ArchiveError(
                f"a storage of {len(storage.elements)} bytes is not a multiple of the element size of {dtype}"
            )
        typed = Storage(storage.elements.view(dtype.numpy_dtype), storage.location)
        return self.tensor(typed, offset, size, stride, grad, hooks, marks)

    def quantized_tensor(self, storage: Any, *storage_ref: Any) -> Tensor:
        """Return a dequantized tensor from integers and quantization parameters in the file."""
        return quantized.tensor(
            self.map_to_device,
            storage.stored if isinstance(storage, LoadedStorage) else storage,
            *storage_ref,
        )


class _LegacyTensorLoader(_ZipTensorLoader):
    """Resolver of the global names and storage references that a legacy file contains.

    `storages` has the loaded storages of the file, by key.
    """

    def __init__(self, storages: dict[str, Storage], map_location: Location) -> None:
        self.values = {}
        self.storages_by_key = storages
        self.map_location = map_location

    def storage(self, archive: str, reference: Any) -> Any:
        """Return the storage, view of a storage, or module class that a persistent id denotes."""
        # A string that Python 2 wrote is a bytes object here if the caller of `load` passed
        # `encoding="bytes"`.
        reference = [field.decode("ascii") if isinstance(field, bytes) else field for field in reference]
        if reference[0] == "module":
            return reference[1]
        *_, key, _, _, view = reference  # `legacy_format.read` has checked the number of fields and the key
        return self.get_loaded_storage(legacy_format.view_of_storage(self.storages_by_key[key], view))


_UNKNOWN: Final = {
    "_rebuild_nested_tensor": "a nested tensor",
    "_rebuild_wrapper_subclass": "a tensor of a wrapper subclass",
}


def _check_tensor_kind(module: str, name: str) -> None:
    """Raise ArchiveError for a kind of PyTorch tensor that `ts` does not support."""
    description = _UNKNOWN.get(name) if module == "torch._utils" else None
    if description is not None:
        raise ArchiveError(f"the file contains {description}, which ts does not support")


def _meta_tensor(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    from ts._core.tensor.factories import from_numpy

    if not isinstance(dtype, dtypes.dtype) or not isinstance(requires_grad, bool):
        raise ArchiveError("a tensor on the device 'meta' has no valid dtype")
    try:
        any_tensor = from_numpy(np.empty(0, np.float32))
        tensor: Tensor = any_tensor.new_empty_strided(size, stride, dtype=dtype, device="meta")
        tensor.requires_grad = requires_grad
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ArchiveError(f"a tensor on the device 'meta' has an invalid size or stride: {error}") from error
    return tensor


def _parameter(data: Any, requires_grad: Any, hooks: Any) -> Any:
    from ts.nn.parameter import Parameter

    if not isinstance(data, Tensor):
        raise ArchiveError("the data of a parameter is not a tensor")
    return Parameter(data, bool(requires_grad))


def _parameter_with_state(data: Any, requires_grad: Any, hooks: Any, state: Any) -> Any:
    parameter = _parameter(data, requires_grad, hooks)
    _set_attributes(parameter, state)
    return parameter


def _wrapper(cls: Any, *metadata: Any) -> Tensor:
    """Return a tensor of a wrapper subclass, from the arguments of `Tensor._make_wrapper_subclass`."""
    if not isinstance(cls, type) or not issubclass(cls, Tensor) or len(metadata) != 7:
        raise ArchiveError(
            f"a tensor of a wrapper subclass needs a subclass of Tensor and 7 values, found {cls!r} "
            f"and {len(metadata)} values"
        )
    dtype, size, stride, offset, layout, device, requires_grad = metadata
    wrapper: Tensor = Tensor._make_wrapper_subclass(
        cls,
        size,
        strides=stride,
        storage_offset=offset,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )
    return wrapper


def _with_attributes(build: Any, cls: Any, arguments: Any, state: Any) -> Any:
    """Rebuild a tensor that has attributes defined by the user."""
    if not isinstance(build, Global) or build.call is None or not isinstance(arguments, tuple):
        raise ArchiveError("a tensor with attributes has no valid constructor call")
    instance = build.call(*arguments)
    if isinstance(cls, type) and issubclass(cls, Tensor) and isinstance(instance, Tensor):
        if type(instance) is not cls:
            instance = instance.as_subclass(cls)
        if type(cls.__dict__.get("__setstate__")) is FunctionType:
            set_state(instance, state)
            return instance
    _set_attributes(instance, state)
    return instance


def _set_attributes(instance: Any, state: Any) -> None:
    if isinstance(state, tuple) and len(state) == 2 and isinstance(instance, Tensor):
        slots = copyreg._slotnames(type(instance))  # type: ignore[attr-defined]
        if not isinstance(state[1], dict) or not all(name in slots for name in state[1]):
            raise ArchiveError("the slots of an object must be a dictionary of slots of its class")
        for name, value in state[1].items():
            setattr(instance, name, value)
        state = state[0]
    if state is None and isinstance(instance, Tensor):
        return
    if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
        raise ArchiveError("the attributes of an object must be a dictionary with string keys")
    instance.__dict__.update(state)


def _device(kind: Any, index: Any = None) -> devices.device:
    return device_named(kind if index is None else f"{kind}:{index}")


def _bytes(string: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(string, str) or encoding != "latin1":
        raise ArchiveError("bytes must be encoded as a latin1 string")
    return codecs.latin_1_encode(string)[0]


def _bytearray(data: Any = b"", *rest: Any) -> bytearray:
    if isinstance(data, str):
        data = _bytes(data, "latin1")
    if not isinstance(data, bytes):
        raise ArchiveError("the data of a bytearray must be bytes")
    return bytearray(data)
