"""Archive reader for TorchScript, for ZIP files written by `torch.jit.save` or `ts.jit.save`.

Input: the path of an archive, or an open file. Output: the script object of the module. Example:

    handle = read("model.pt", map_location="cpu", extra_files={"labels.txt": ""})

Records of an archive:

Loading executes no code of the archive except `__setstate__` methods of modules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any, Final

from ts._core.value.ivalue import new_object, object_set, to_core
from ts._core.value.objects import Object
from ts._core.value.spec import KINDS, TypeSpec
from ts._core.value.type_of import infer_spec, is_small
from ts.archive import quantized
from ts.archive.debug_info import read_source_locations
from ts.archive.storages import storage_type
from ts.archive.unpickler import Global, Unpickler, ordered_dict
from ts.archive.zip_records import Location, TensorLoader, ZipRecords, device_named, open_archive
from ts.bytecode.typespec import object_class, type_spec
from ts.errors import ArchiveError
from ts.frontend.load_policy import DEFAULT, FILE_WRITERS, LoadPolicy
from ts.frontend.source_importer import ArchiveUnit
from ts.ir.source import Source
from ts.ir.types import CUSTOM_CLASS_PREFIX, ClassType, EnumType, ModuleType, NoneType, OptionalType
from ts.passes.unwrap_numbers import as_number

NEWEST_VERSION: Final = 10
_FILE_WRITER_NAMES: Final = [name.partition("::")[2] for name in FILE_WRITERS]
# maximum number of elements of a constant. A tensor in the constant counts as one element.
_MAX_ELEMENTS: Final = 1 << 20


def read(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: Location = None,
    extra_files: dict[str, Any] | None = None,
    policy: LoadPolicy = DEFAULT,
    mapped: bool = False,
) -> Object:
    """Read the script object of the module from an archive.

    map_location  target of tensors: a device, a dictionary from device names in the archive to device
                  names, None for the devices in the archive, or a function. The function receives a
                  storage's elements on the CPU and the device name. It returns the moved elements, or None
                  if they should stay on the CPU.
    extra_files   dictionary whose keys name additional records. Its values are set to their contents.
    policy        limits on the archive's code, which apply to loading and to later calls. All code is
                  compiled at once if the policy restricts operators, or if untrusted code may write files.
    mapped        True to map large storages into memory, if `f` is a path
    """
    mapped = mapped and isinstance(f, str | os.PathLike)
    with open_archive(f) as file, policy.within(), ZipRecords(file, mapped=mapped) as records:
        if extra_files is not None:
            for name in extra_files:
                has_record = records.has(f"extra/{name}")
                extra_files[name] = records.bytes(f"extra/{name}") if has_record else b""
        reader = ModuleReader(records, map_location, policy)
        module = reader.value("data")
        if not isinstance(module, Object):
            raise ArchiveError("the archive does not contain a scripted module")
        if policy.restricted or (not policy.is_trusted and reader.may_write_files()):
            from ts.frontend.compile import (
                compile_all,  # imported here: trusted code is compiled at first calls
            )

            compile_all(_methods(module.cls.type))
    return module


def read_sources(records: ZipRecords) -> dict[str, Source]:
    """Return the sources by record name.

    Sources that have debug records contain original source locations.
    """
    sources = {}
    for name in records.entries:
        if name.startswith("code/") and name.endswith(".py"):
            source = sources[name] = Source(records.text(name), name)
            if records.has(f"{name}.debug_pkl"):
                source.origins = read_source_locations(records.bytes(f"{name}.debug_pkl"))
    return sources


def _methods(root: ClassType) -> Iterator[Any]:
    """Yield the methods of a module class and of the classes of its submodules."""
    types: dict[ClassType, None] = {root: None}
    rest = [root]
    while rest:
        type = rest.pop()
        yield from type.methods.values()
        submodule_types = [
            t for t in type.attributes.values() if isinstance(t, ModuleType) and t not in types
        ]
        types.update(dict.fromkeys(submodule_types))
        rest += submodule_types


class ModuleReader(TensorLoader):
    """Reader of the pickles of an archive."""

    def __init__(self, records: ZipRecords, map_location: Location, policy: LoadPolicy = DEFAULT) -> None:
        super().__init__(records, map_location)
        version = records.version
        if version > NEWEST_VERSION:
            raise ArchiveError(
                f"Attempted to read a PyTorch file with version {version}, but the maximum supported version "
                f"for reading is {NEWEST_VERSION}. Your ts installation may be too old."
            )
        self.converted: dict[tuple[int, TypeSpec], tuple[Any, Any]] = {}
        # Objects that wait for `set_state`, by `id`.
        self.uninitialized: dict[int, Object] = {}
        constants: list[object] = []
        self.unit = ArchiveUnit(read_sources(records), constants, version, policy)
        values = self.value("constants")
        if not isinstance(values, tuple):
            raise ArchiveError("constants.pkl does not contain a tuple")
        for i, value in enumerate(values):
            if not is_small(value, _MAX_ELEMENTS) or not _fits_int64(value):
                raise ArchiveError(f"CONSTANTS.c{i} in constants.pkl is too large or nested too deeply")
            constants.append(as_number(value))

    def may_write_files(self) -> bool:
        """Return whether the source text contains the name of an operator that writes files.

        Such an archive is compiled when it is loaded, so that the load policy can reject its graphs before
        the first call.
        """
        # The test `name in text` is much faster than a search of the regular expression.
        return any(
            name in source.text and re.search(rf"\b{name}\b", source.text)
            for source in self.unit.sources.values()
            for name in _FILE_WRITER_NAMES
        )

    def value(self, archive: str) -> Any:
        """Unpickle the record `{archive}.pkl` and return the value."""
        data = self.records.bytes(f"{archive}.pkl")
        value = Unpickler(data, self.name, partial(self.storage, archive)).load()
        for each in self.uninitialized.values():
            raise ArchiveError(f"an object of type {each.cls.type} has no state with its attributes")
        return value

    def name(self, module: str, name: str) -> Global:
        """Resolve a global name in a pickle. Raise ArchiveError if the name is not allowed."""
        full = f"{module}.{name}"
        if module == "__torch__" or module.startswith("__torch__."):
            return self.definition(full)
        if not is_allowed_global(module, name):
            raise ArchiveError(f"the archive refers to {full}, which is not allowed in archives")
        if full == _TENSOR:
            return Global(full, self.tensor)
        if full == quantized.REBUILD:
            return Global(full, partial(quantized.tensor, self.map_to_device))
        call = _CALLS.get(full)
        return Global(name) if call is None else Global(full, call)

    def definition(self, name: str) -> Global:
        """Return the unpickling rules of `name`: a class or enum of the archive, or packed parameters.

        Raise ArchiveError if the archive does not define `name`.
        """
        if name.startswith(CUSTOM_CLASS_PREFIX):
            custom = quantized.custom_class(name)
            if custom is not None:
                return custom
        definition = self.unit.find(name)
        if isinstance(definition, EnumType) and definition.python_class is not None:
            return Global(name, partial(_member, definition.python_class))
        if isinstance(definition, ClassType):
            return Global(name, new=partial(self.new, definition), build=self.set_state)
        raise ArchiveError(f"Unknown type name '{name}': the archive's code does not define it")

    def new(self, type: ClassType) -> Object:
        """Create an object whose attributes are set later."""
        instance = new_object(object_class(type))
        if type.attributes:
            self.uninitialized[id(instance)] = instance
        return instance

    def set_state(self, instance: Object, state: Any) -> None:
        """Set the attributes of an object, or call `__setstate__` if the class defines it."""
        type: ClassType = instance.cls.type
        self.uninitialized.pop(id(instance), None)
        restore = type.methods.get("__setstate__")
        try:
            if restore is not None:
                if len(restore.schema.arguments) != 2:
                    raise ArchiveError(f"__setstate__ of {type} must have exactly one parameter after self")
                restore(instance, self.convert(state, type_spec(restore.schema.arguments[1].type)))
                return
            for slot, (name, attribute) in enumerate(type.attributes.items()):
                if not isinstance(state, dict) or name not in state:
                    if isinstance(attribute, OptionalType | NoneType):
                        continue
                    raise ArchiveError(f"an object of type {type} has no attribute '{name}'")
                object_set(instance, slot, self.convert(state[name], type_spec(attribute)))
        except TypeError as error:
            raise ArchiveError(f"an object of type {type} does not match its class: {error}") from error

    def convert(self, value: Any, spec: TypeSpec) -> Any:
        """Convert a list, dict or tuple to the type `spec`. Return any other value unchanged.

        A container that is referenced several times is converted once, so that it remains shared.
        """
        if not isinstance(value, list | dict | tuple):
            return value
        cached = self.converted.get((id(value), spec))
        if cached is not None:
            return cached[1]
        converted = self.container(value, spec)
        self.converted[id(value), spec] = value, converted
        return converted

    def container(self, value: Any, spec: TypeSpec) -> Any:
        """Convert a container and its elements to the type `spec`. Raise TypeError if it does not match."""
        kind, element_specs = spec.kind, spec.children
        if kind == KINDS["AnyType"] or spec.annotation_str in ("list", "tuple"):
            return self.convert(value, infer_spec(value))
        if kind == KINDS["OptionalType"]:
            return self.convert(value, element_specs[0])
        if kind == KINDS["UnionType"]:
            return self.member(value, spec)
        converted: Any = value
        if kind == KINDS["ListType"] and isinstance(value, list):
            converted = [self.convert(v, element_specs[0]) for v in value]
        elif kind == KINDS["DictType"] and isinstance(value, dict):
            converted = {k: self.convert(v, element_specs[1]) for k, v in value.items()}
        elif kind == KINDS["TupleType"] and isinstance(value, tuple) and len(value) == len(element_specs):
            converted = tuple(map(self.convert, value, element_specs))
        else:
            raise TypeError(f"expected a value of type {spec.annotation_str}, found {type(value).__name__}")
        return to_core(converted, spec)

    def member(self, value: Any, union: TypeSpec) -> Any:
        """Convert a container to the first member type of a union that it matches.

        Raise TypeError if it matches none.
        """
        for spec in union.children:
            try:
                return self.convert(value, spec)
            except TypeError:
                continue
        raise TypeError(f"expected a value of type {union.annotation_str}, found {type(value).__name__}")


def _fits_int64(value: Any) -> bool:
    """Return True if all ints of a constant fit in 64 bits, the range of ints in scripts."""
    if isinstance(value, list | tuple):
        return all(map(_fits_int64, value))
    if isinstance(value, dict):
        return all(map(_fits_int64, value)) and all(map(_fits_int64, value.values()))
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 63


def _device(name: Any) -> Any:
    if not isinstance(name, str):
        raise ArchiveError("expected a string as the name of a device")
    return device_named(name)


def _member(enum: type[Any], value: Any) -> Any:
    """Return the member of `enum` whose value is `value`. Raise ArchiveError if there is none."""
    if not isinstance(value, int | float | str):
        raise ArchiveError(f"the value of a member of {enum.__name__} must be a number or a string")
    try:
        return enum(value)
    except ValueError:
        raise ArchiveError(f"{enum.__name__} has no member with the value {value!r:.80}") from None


def _first(value: Any, *rest: Any) -> Any:
    """Return `value`.

    Ignore `rest`, the type in the pickle, because the class declares the type of the attribute.
    """
    return value


_TENSOR: Final = "torch._utils._rebuild_tensor_v2"
_CALLS: Final[dict[str, Callable[..., Any]]] = {
    "torch.jit._pickle.restore_type_tag": _first,
    "torch.jit._pickle.build_intlist": _first,
    "torch.jit._pickle.build_doublelist": _first,
    "torch.jit._pickle.build_boollist": _first,
    "torch.jit._pickle.build_tensorlist": _first,
    "collections.OrderedDict": ordered_dict,
    "builtins.complex": complex,
    "__builtin__.complex": complex,
    "torch.device": _device,
}
_ALLOWED: Final = frozenset((_TENSOR, quantized.REBUILD, *_CALLS, *quantized.SCHEMES))


def is_allowed_global(module: str, name: str) -> bool:
    """Return True if pickles of archives may refer to this name of PyTorch or Python."""
    full = f"{module}.{name}"
    return full in _ALLOWED or (module == "torch" and storage_type(name, in_module=True) is not None)
