"""Bytecode serialization, which converts the constructor arguments of a `Code` to and from JSON data.

A `SerializedCode` contains the constructor arguments. Example:

    data = serialize_program(program, owner)            JSON data of a SerializedCode
    deserialize_program(data, owner)                    an equal SerializedCode
    program.code()                                      the verified Code

Types, functions, source texts and large tensors are not part of the data. The owner of the program (a
`CodeOwner`, usually an archive) resolves references to them. `NotSerializableError` is raised for a program
that data cannot represent, such as one that calls Python functions. The data may be untrusted, so `Code`
verifies it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload

import numpy as np

from ts._core.tensor.tensor import Tensor, wrap_array
from ts._core.value.ivalue import to_core
from ts._core.value.lists import List, Tuple
from ts._core.value.spec import KINDS, SPECS, TypeSpec
from ts._core.value.type_of import infer_spec
from ts._core.vm.code import Code, Method
from ts._core.vm.python_call import WarnOperator
from ts._core.vm.specializations import Specializations
from ts.devices import device
from ts.ops import registry

if TYPE_CHECKING:
    from ts.bytecode.subgraph_functions import Prepare
    from ts.ir.source import Source, SourceRange
    from ts.ir.types import Type

_MAX_TENSOR_BYTES: Final = 1 << 16  # maximal size of a tensor that is stored in the data itself
_SCALARS: Final = (type(None), bool, int, float, str)
_LIST, _TUPLE, _OPTIONAL = KINDS["ListType"], KINDS["TupleType"], KINDS["OptionalType"]
_ENUM: Final = r"Enum<([^<>]*)>"  # pattern of an enum in the text of a type
_SIMPLE: Final = frozenset({"Tensor", "int", "float", "bool", "str", "NoneType"})  # types in `SPECS`
_CONTAINERS: Final = {"List[": _LIST, "Optional[": _OPTIONAL}
_plain_types: dict[str, Type] = {}  # text of a type -> type. Only types that contain no class are cached.


class NotSerializableError(Exception):
    """Raised if a program, or an object in it, cannot be serialized."""


class SerializedCode(NamedTuple):
    """Arguments of the constructor of `Code`. Unlike a `Code`, they can be serialized."""

    name: str
    rows: Sequence[tuple[int, ...]]
    classes: str
    parameters: Sequence[TypeSpec]
    constants: Sequence[Any]
    operand_pool: Sequence[int]
    operators: Sequence[Any]
    functions: Sequence[Any]
    types: Sequence[TypeSpec]
    lines: Sequence[Any]
    handlers: Sequence[tuple[int, int, int, Any]]
    result: TypeSpec

    def code(self) -> Code:
        """Create and verify the code."""
        return Code(*self)


class CodeOwner:
    """Owner of serialized programs, which resolves their references to types, functions and sources."""

    def __init__(
        self,
        type_named: Callable[[str], Type],
        function_named: Callable[[str], Any],
        sources: Mapping[str, Source],
        constants: Sequence[Any],
        prepare: Prepare | None = None,
        plans: Callable[..., Specializations] | None = None,
    ) -> None:
        self.type_named = type_named  # text of a type -> type
        self.function_named = function_named  # qualified name -> function, or None for unknown names
        self.sources = sources  # file name -> `Source`
        self.constants = constants  # tensors, to which the data refers by index
        self.prepare = prepare  # function that compiles a subgraph when it first runs
        # callable (parameter types, result type, guarded registers) -> `Specializations`, or None if the
        # owner does not specialize
        self.plans = plans


def serialize_program(program: SerializedCode, owner: CodeOwner) -> dict[str, Any]:
    """Return the program as JSON data: dictionaries, lists, numbers and strings.

    Raises NotSerializableError if the program, or an object in it, cannot be serialized.
    """
    if program.handlers:
        raise NotSerializableError
    lines = _LineTable(owner)
    return {
        "name": program.name,
        "rows": list(chain.from_iterable(program.rows)),
        "classes": program.classes,
        "parameters": [serialize_spec(spec, owner) for spec in program.parameters],
        "constants": [serialize_constant(value, owner) for value in program.constants],
        "pool": list(program.operand_pool),
        "operators": [_serialize_operator(operator) for operator in program.operators],
        "functions": [_serialize_function(function, owner) for function in program.functions],
        "types": [serialize_spec(spec, owner) for spec in program.types],
        "lines": [lines.stack_index(stack) for stack in program.lines],
        "stacks": lines.stacks,
        "texts": lines.texts,
        "result": serialize_spec(program.result, owner),
    }


def deserialize_program(data: Mapping[str, Any], owner: CodeOwner) -> SerializedCode:
    """Return the program from data that `serialize_program` returned.

    Raises LookupError, TypeError or ValueError for malformed data.
    """
    encoded = iter(data["rows"])
    stacks = _stacks(data["stacks"], data["texts"], owner)
    return SerializedCode(
        data["name"],
        list(zip(encoded, encoded, encoded, encoded, strict=True)),
        data["classes"],
        [deserialize_spec(type_text, owner) for type_text in data["parameters"]],
        [deserialize_constant(value, owner) for value in data["constants"]],
        data["pool"],
        [_deserialize_operator(operator, owner.prepare) for operator in data["operators"]],
        [_deserialize_function(function, owner) for function in data["functions"]],
        [deserialize_spec(type_text, owner) for type_text in data["types"]],
        [stacks[index] for index in data["lines"]],
        (),
        deserialize_spec(data["result"], owner),
    )


# ---- serialization of types --------------------------------------------------------------------------------


def serialize_spec(spec: TypeSpec, owner: CodeOwner, parameter: bool = False) -> str:
    """Return the text of a type. Raise NotSerializableError if the text does not yield an equal type."""
    try:
        round_trips = deserialize_spec(spec.annotation_str, owner, parameter) == spec
    except Exception as error:  # parsing may raise any exception if the text is not a type
        raise NotSerializableError(spec.annotation_str) from error
    if not round_trips:
        raise NotSerializableError(spec.annotation_str)
    return spec.annotation_str


def deserialize_spec(type_text: str, owner: CodeOwner, parameter: bool = False) -> TypeSpec:
    """Return the descriptor of a type from the text of the type.

    If `parameter` is True, the type is that of a parameter, whose annotation may be missing.
    """
    simple = _simple_spec(type_text)
    if simple is not None:
        return simple
    # imported at first use, because `typespec` imports the modules of all types
    from ts.bytecode.typespec import argument_spec, type_spec

    type = _plain_types.get(type_text)
    if type is None:
        type = owner.type_named(re.sub(_ENUM, r"\1", type_text))
        if not type.mentions_class() and "__torch__" not in type_text:
            _plain_types[type_text] = type
    return argument_spec(type) if parameter else type_spec(type)


def _simple_spec(type_text: str) -> TypeSpec | None:
    """Return the descriptor of a built-in type T, or of List[T] or Optional[T].

    Return None for other types.
    """
    if type_text in _SIMPLE:
        return SPECS[type_text]
    name, bracket, rest = type_text.partition("[")
    kind = _CONTAINERS.get(name + bracket)
    if kind is None:
        return None
    inner = _simple_spec(rest[:-1])
    return None if inner is None else TypeSpec(kind, (inner,), type_text)


# ---- serialization of constants ----------------------------------------------------------------------------


def serialize_constant(value: Any, owner: CodeOwner) -> Any:
    """Return a constant as data: scalars unchanged, other values as a dictionary with their kind."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, List | Tuple):
        return {"of": serialize_spec(infer_spec(value), owner), "value": _serialize_items(value, owner)}
    if isinstance(value, Enum):
        return {"enum": serialize_spec(infer_spec(value), owner), "member": value.name}
    if isinstance(value, device):
        return {"device": str(value)}
    if isinstance(value, Tensor):
        return _serialize_tensor(value, owner)
    raise NotSerializableError(type(value).__name__)


def deserialize_constant(data: Any, owner: CodeOwner) -> Any:
    """Return the constant from data that `serialize_constant` returned."""
    if not isinstance(data, dict):
        return data
    if "of" in data:
        spec = deserialize_spec(data["of"], owner)
        return to_core(_deserialize_items(data["value"], spec, owner), spec)
    if "enum" in data:
        return deserialize_spec(data["enum"], owner).detail[data["member"]]
    if "device" in data:
        return device(data["device"])
    if "constant" in data:
        return owner.constants[data["constant"]]
    from binascii import a2b_base64  # imported at first use, because few programs contain tensors

    array = np.frombuffer(a2b_base64(data["tensor"]), np.dtype(data["dtype"]))
    return wrap_array(array.reshape(data["sizes"]).copy())


def _serialize_items(container: Any, owner: CodeOwner) -> list[Any]:
    nested = (
        _serialize_items(x, owner) if isinstance(x, List | Tuple) else serialize_constant(x, owner)
        for x in container
    )
    return list(nested)


def _deserialize_items(data: Any, spec: TypeSpec, owner: CodeOwner) -> Any:
    """Return the object of type `spec` that `data` describes.

    The object is a constant, or a list or tuple of such objects.
    """
    if spec.kind == _LIST:
        return [_deserialize_items(item, spec.children[0], owner) for item in data]
    if spec.kind == _TUPLE:
        return tuple(
            _deserialize_items(item, item_spec, owner)
            for item, item_spec in zip(data, spec.children, strict=True)
        )
    if spec.kind == _OPTIONAL and data is not None:
        return _deserialize_items(data, spec.children[0], owner)
    return deserialize_constant(data, owner)


def _serialize_tensor(x: Any, owner: CodeOwner) -> dict[str, Any]:
    for index, constant in enumerate(owner.constants):
        if constant is x:
            return {"constant": index}
    if x.device.type != "cpu" or x.requires_grad or not x.is_contiguous():
        raise NotSerializableError("a tensor")
    array = x._host()
    if array.nbytes > _MAX_TENSOR_BYTES or array.dtype.kind not in "biufc":
        raise NotSerializableError("a tensor")
    from binascii import b2a_base64

    base64_data = b2a_base64(array.tobytes(), newline=False).decode()
    return {"tensor": base64_data, "dtype": array.dtype.str, "sizes": list(array.shape)}


# ---- serialization of operators and functions --------------------------------------------------------------


def _serialize_operator(operator: Any) -> Any:
    if isinstance(operator, WarnOperator):
        return [operator.filename, operator.line]
    from ts.bytecode.subgraph_functions import DifferentiableRecord, serialize_subgraph
    from ts.fusion.program import FusionGroupRecord

    if isinstance(operator.record, DifferentiableRecord):
        data = serialize_subgraph(operator)
        if data is None:
            raise NotSerializableError(operator.name)
        return {"part": data}
    if isinstance(operator.record, FusionGroupRecord):
        assert operator.record.program is not None
        return {"group": operator.record.program.data(_serialize_operator)}
    name = f"{operator.name}.{operator.overload}" if operator.overload else operator.name
    if _deserialize_operator(name, None) is not operator:
        raise NotSerializableError(name)
    return name


def _deserialize_operator(data: Any, prepare: Prepare | None) -> Any:
    if isinstance(data, dict) and "part" in data:
        from ts.bytecode.subgraph_functions import deserialize_subgraph

        if prepare is None:
            raise NotSerializableError(data["part"])
        return deserialize_subgraph(data["part"], prepare)
    if isinstance(data, dict):
        from ts.fusion.program import deserialize_program as deserialize_group
        from ts.fusion.program import group_operator

        return group_operator(
            deserialize_group(data["group"], lambda name: _deserialize_operator(name, None))
        )
    if not isinstance(data, str):
        filename, line = data
        return WarnOperator(filename, line)
    operator = registry.operator(data)
    # not in the registry: an operator that was created for one node, such as the index into a ModuleDict
    if operator is None:
        raise NotSerializableError(data)
    return operator


def _serialize_function(function: Any, owner: CodeOwner) -> Any:
    if isinstance(function, Method):
        specs = [serialize_spec(spec, owner) for spec in function.specs]
        return [function.name, specs, serialize_spec(function.result, owner)]
    if isinstance(function, Specializations):
        specs = [serialize_spec(spec, owner, parameter=True) for spec in function.specs]
        return {"plans": function.registers, "specs": specs, "result": serialize_spec(function.result, owner)}
    name = getattr(function, "qualified_name", "")
    if not name or owner.function_named(name) is not function:
        raise NotSerializableError(name)
    return name


def _deserialize_function(data: Any, owner: CodeOwner) -> Any:
    if isinstance(data, str):
        return owner.function_named(data)
    if isinstance(data, dict):
        if owner.plans is None:
            raise NotSerializableError("plans")
        parameter_specs = (deserialize_spec(type_text, owner, parameter=True) for type_text in data["specs"])
        return owner.plans(tuple(parameter_specs), deserialize_spec(data["result"], owner), data["plans"])
    name, specs, result = data
    return Method(
        name,
        tuple(deserialize_spec(type_text, owner) for type_text in specs),
        deserialize_spec(result, owner),
    )


# ---- serialization of source locations ---------------------------------------------------------------------


class _LineTable:
    """Table of the distinct call stacks of a program's instructions.

    A stack has four items per level, outermost level first: function name, index of the source (-1: none),
    start and end of the source range. A source is stored as its file name if the owner has the file, else as
    its text. A level without a function name follows the level of a built-in function. It contains the source
    range of the call to this function.
    """

    def __init__(self, owner: CodeOwner) -> None:
        self._owner = owner
        self._numbers: dict[Any, int] = {}
        self._text_numbers: dict[int, int] = {}
        self.stacks: list[list[Any]] = []
        self.texts: list[Any] = []

    def stack_index(self, stack: Any) -> int:
        """Return the index of `stack` in the table. Add `stack` if it is new."""
        index = self._numbers.get(stack)
        if index is None:
            index = self._numbers[stack] = len(self.stacks)
            self.stacks.append([item for name, range in stack for item in self._encode_level(name, range)])
        return index

    def _encode_level(self, name: str, range: SourceRange | None) -> list[Any]:
        from ts.ir.source import in_program

        call = in_program(range)
        call_range = [] if call is range else [None, *self._range(call)]
        return [name, *self._range(range), *call_range]

    def _range(self, range: SourceRange | None) -> tuple[int, int, int]:
        if range is None:
            return -1, 0, 0
        source = range.source
        if id(source) not in self._text_numbers:
            self._text_numbers[id(source)] = len(self.texts)
            is_owned = self._owner.sources.get(source.filename or "") is source
            source_fields = [
                source.text,
                source.filename,
                source.first_line,
                source.leading_whitespace_removed,
            ]
            self.texts.append(source.filename if is_owned else source_fields)
        return self._text_numbers[id(source)], range.start, range.end


class _LazyStack(Sequence[tuple[str, Any]]):
    """Call stack of an instruction, which is decoded when an error or a listing reads it."""

    __slots__ = ("_items", "_sources")

    def __init__(self, items: list[Any], sources: Sequence[Callable[[], Source]]) -> None:
        self._items = items
        self._sources = sources

    def __len__(self) -> int:
        return sum(name is not None for name in self._items[::4])

    @overload
    def __getitem__(self, i: int) -> tuple[str, Any]: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[tuple[str, Any]]: ...
    def __getitem__(self, i: int | slice) -> Any:
        return tuple(self._decode_levels())[i]

    def _decode_levels(self) -> Iterator[tuple[str, Any]]:
        from ts.ir.source import BuiltinRange

        items = self._items
        for i in range(0, len(items), 4):
            source_range = self._range(i)
            if items[i] is None:  # decoded together with the preceding level
                continue
            if source_range is not None and items[i + 4 : i + 5] == [None]:
                call = self._range(i + 4)
                source_range = source_range if call is None else BuiltinRange(source_range, call)
            yield items[i], source_range

    def _range(self, i: int) -> SourceRange | None:
        from ts.ir.source import SourceRange

        source, start, end = self._items[i + 1 : i + 4]
        return SourceRange(self._sources[source](), start, end) if source >= 0 else None


def _stacks(
    stacks: Iterable[list[Any]], encoded_sources: Iterable[Any], owner: CodeOwner
) -> list[_LazyStack]:
    sources = [_source(owner, data) for data in encoded_sources]
    return [_LazyStack(items, sources) for items in stacks]


def _source(owner: CodeOwner, data: Any) -> Callable[[], Source]:
    """Return a function that returns the `Source` for `data`: a file name, or the fields of the source.

    The function creates the `Source` at its first call.
    """
    if isinstance(data, str):
        source = owner.sources[data]
        return lambda: source
    source_text, filename, first_line, leading_whitespace_removed = data

    @cache
    def make_source() -> Source:
        from ts.ir.source import Source

        return Source(source_text, filename, first_line, leading_whitespace_removed)

    return make_source
