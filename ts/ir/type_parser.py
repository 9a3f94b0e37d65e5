"""Recursive descent parser of types in graph text and schemas, with alias annotations and list sizes.

`parse_type` returns a `Type`. `read_type` also returns the alias annotation, as in ``Tensor(a!)[]``, and the
list size, as in ``int[2]?``::

    >>> parse_type("Dict(int, Tensor?[])").str()
    'Dict(int, Tensor?[])'
"""

from __future__ import annotations

from collections.abc import Callable

from ts._core.thread.deadline import charge
from ts.dtypes import SCALAR_TYPE_NAMES
from ts.ir.lexer import TokenStream, is_name, is_number, read_default
from ts.ir.types import (
    ANY,
    BOOL,
    COMPLEX,
    CUSTOM_CLASSES,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NONE,
    NUMBER,
    STR,
    TENSOR,
    AnyClassType,
    AnyEnumType,
    AnyListType,
    AnyTupleType,
    AwaitType,
    CapsuleType,
    ClassType,
    DictType,
    EnumType,
    FunctionType,
    FutureType,
    InterfaceType,
    LayoutType,
    ListType,
    MemoryFormatType,
    OptionalType,
    PyObjectType,
    QSchemeType,
    QuantizerType,
    RRefType,
    ScalarTypeType,
    StorageType,
    StreamObjType,
    SymBoolType,
    SymFloatType,
    SymIntType,
    TensorType,
    TupleType,
    Type,
    UnionType,
    VarType,
)

NAMED_TYPES: dict[str, Type] = {
    "Tensor": TENSOR,
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "complex": COMPLEX,
    "str": STR,
    "NoneType": NONE,
    "None": NONE,
    "Scalar": NUMBER,
    "Any": ANY,
    "Device": DEVICE,
    "Generator": GENERATOR,
    "Stream": StreamObjType.get(),
    "Storage": StorageType.get(),
    "Quantizer": QuantizerType.get(),
    "QScheme": QSchemeType.get(),
    "Capsule": CapsuleType.get(),
    "PyObject": PyObjectType.get(),
    "ScalarType": ScalarTypeType.get(),
    "Layout": LayoutType.get(),
    "MemoryFormat": MemoryFormatType.get(),
    "SymInt": SymIntType.get(),
    "SymFloat": SymFloatType.get(),
    "SymBool": SymBoolType.get(),
    "AnyListType": AnyListType.get(),
    "AnyTupleType": AnyTupleType.get(),
    "AnyClassType": AnyClassType.get(),
    "AnyEnumType": AnyEnumType.get(),
    "Function": FunctionType(None),
    "Undefined": TensorType(undefined=True),
}

# Type that occurs only in schemas -> type that graph values have instead.
PLAIN_TYPES: dict[Type, Type] = {
    SymIntType.get(): INT,
    ScalarTypeType.get(): INT,
    LayoutType.get(): INT,
    MemoryFormatType.get(): INT,
    SymFloatType.get(): FLOAT,
}

# Time and memory charged to `ts.limits` for each parsed type.
_TYPE_NS = 3_000
_TYPE_BYTES = 300

_SCALAR_TYPE_NUMBERS = {name: number for number, name in enumerate(SCALAR_TYPE_NAMES)}
_ELEMENT_TYPES: dict[str, Callable[[Type], Type]] = {
    "Future": FutureType,
    "RRef": RRefType,
    "Await": AwaitType,
}

ClassLookup = Callable[[str], Type]


class AliasInfo:
    """Alias annotation of an argument or result in a schema, such as ``Tensor(a! -> b)``.

    before      alias sets before the call. The set ``*`` means that the value may alias any other value
    after       alias sets after the call
    is_write    True if the operator writes to the argument
    contained   annotations of a container's elements
    """

    __slots__ = ("after", "before", "contained", "is_write", "text")

    def __init__(
        self,
        before: frozenset[str] = frozenset(),
        is_write: bool = False,
        after: frozenset[str] | None = None,
        contained: tuple[AliasInfo, ...] = (),
        text: str = "",
    ) -> None:
        self.before = before
        self.is_write = is_write
        self.after = before if after is None else after
        self.contained = contained
        self.text = text

    @property
    def before_set(self) -> frozenset[str]:
        """Alias sets before the call. The name of this property is PyTorch's."""
        return self.before

    @property
    def after_set(self) -> frozenset[str]:
        """Alias sets after the call. The name of this property is PyTorch's."""
        return self.after

    def _key(self) -> tuple[object, ...]:
        return (self.before, self.is_write, self.after, self.contained)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AliasInfo) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"AliasInfo{self.text}"


class ParsedType:
    """Type with the alias annotation and list size from a schema."""

    __slots__ = ("alias", "size", "type")

    def __init__(self, type: Type, alias: AliasInfo | None = None, size: int | None = None) -> None:
        self.type = type
        self.alias = alias
        self.size = size


def parse_type(type_text: str, find_class: ClassLookup = ClassType) -> Type:
    """Parse a type. `find_class` resolves the names of classes."""
    tokens = TokenStream(type_text)
    result = read_type(tokens, find_class).type
    if tokens.peek():
        raise tokens.error(f"expected the end of the type but found {tokens.peek()!r}")
    return result


def plain(t: Type) -> Type:
    """Return `t` with each type that occurs only in schemas replaced by the type of its values.

    For example, ``SymInt`` and ``ScalarType`` are replaced by int.
    """
    cached = PLAIN_TYPES.get(t)
    if cached is not None:
        return cached
    contained_types = t.contained_types()
    if not contained_types:
        return t
    new = [plain(contained) for contained in contained_types]
    return t if all(a is b for a, b in zip(contained_types, new, strict=True)) else t.with_contained(new)


def read_type(tokens: TokenStream, find_class: ClassLookup = ClassType) -> ParsedType:
    """Read a type with its suffixes, such as `[2]` and `?`."""
    charge(_TYPE_NS, _TYPE_BYTES)
    t, alias = _read_base(tokens, find_class)
    size: int | None = None
    while True:
        token = tokens.peek()
        if token == "[":
            tokens.next()
            size = None
            if is_number(tokens.peek()):
                size = tokens.integer()
            tokens.expect("]")
            t = ListType(t)
            outer_alias = _read_alias(tokens)
            if outer_alias is not None or alias is not None:
                alias = _containing(outer_alias, (alias,) if alias is not None else ())
        elif token == "?":
            tokens.next()
            t = OptionalType(t)
        else:
            return ParsedType(t, alias, size)


def _containing(outer_alias: AliasInfo | None, contained: tuple[AliasInfo, ...]) -> AliasInfo:
    if outer_alias is None:
        return AliasInfo(is_write=any(inner.is_write for inner in contained), contained=contained)
    outer_alias.contained = contained
    return outer_alias


def _read_base(tokens: TokenStream, find_class: ClassLookup) -> tuple[Type, AliasInfo | None]:
    if tokens.accept("("):
        elems = _read_list(tokens, find_class)
        inner = tuple(e.alias for e in elems if e.alias is not None)
        return TupleType(e.type for e in elems), _read_alias(tokens) or (
            _containing(None, inner) if inner else None
        )
    token = tokens.next()
    if not is_name(token):
        tokens.at -= 1
        raise tokens.error(f"expected a type but found {token!r}")
    opening = tokens.peek()
    if token == "Dict" and opening in ("(", "["):
        tokens.next()
        types = [element.type for element in _read_list(tokens, find_class)]
        if len(types) != 2:
            raise tokens.error(f"expected two types in Dict[...] but found {len(types)}")
        return DictType(types[0], types[1]), _read_alias(tokens)
    if token in ("Union", "UnionType") and opening in ("(", "["):
        tokens.next()
        members = _read_list(tokens, find_class)
        if not members:
            raise tokens.error("expected the members of a Union")
        return UnionType(m.type for m in members), _read_alias(tokens)
    if token in _ELEMENT_TYPES and opening in ("(", "["):
        tokens.next()
        elems = _read_list(tokens, find_class)
        if len(elems) != 1:
            raise tokens.error(f"{token} takes one type but has {len(elems)}")
        elem = elems[0]
        alias = _containing(None, (elem.alias,)) if elem.alias is not None else None
        return _ELEMENT_TYPES[token](elem.type), _read_alias(tokens) or alias
    if token == "NamedTuple" and opening == "(":
        return _read_named_tuple(tokens, find_class), None
    if token == "Enum" and opening == "<":
        tokens.next()
        name = tokens.next()
        tokens.expect(">")
        registered = find_class(name)
        return registered if isinstance(registered, EnumType) else EnumType(name, ANY), None
    if token == "InterfaceType" and opening == "<":
        tokens.next()
        name = tokens.next()
        tokens.expect(">")
        registered = find_class(name)
        return registered if isinstance(registered, InterfaceType) else InterfaceType(name), None
    named_type = NAMED_TYPES.get(token)
    if named_type is not None:
        if named_type is TENSOR and opening == "(" and tokens.peek(1) in ("requires_grad", "device"):
            return _read_tensor(tokens, None), None
        return named_type, _read_alias(tokens)
    scalar_type = _SCALAR_TYPE_NUMBERS.get(token)
    if scalar_type is None and token.endswith("Tensor"):
        scalar_type = _SCALAR_TYPE_NUMBERS.get(token[: -len("Tensor")])
    if scalar_type is not None:
        return (_read_tensor(tokens, scalar_type) if opening == "(" else TensorType(scalar_type)), None
    if token.startswith("__torch__") or "." in token:
        return CUSTOM_CLASSES.get(token) or find_class(token), _read_alias(tokens)
    return VarType(token), _read_alias(tokens)


def _read_list(tokens: TokenStream, find_class: ClassLookup) -> list[ParsedType]:
    """Read types separated by commas up to the closing bracket. The caller has read the opening bracket."""
    types: list[ParsedType] = []
    while tokens.peek() not in (")", "]"):
        types.append(read_type(tokens, find_class))
        if not tokens.accept(","):
            break
    if not tokens.accept(")"):
        tokens.expect("]")
    return types


def _read_named_tuple(tokens: TokenStream, find_class: ClassLookup) -> TupleType:
    tokens.expect("(")
    fields, elems = [], []
    defaults: dict[str, object] = {}
    while tokens.peek() != ")":
        fields.append(tokens.next())
        tokens.expect(":")
        elems.append(read_type(tokens, find_class).type)
        if tokens.accept("="):
            defaults[fields[-1]] = read_default(tokens, elems[-1] is FLOAT)
        tokens.accept(",")
    tokens.expect(")")
    return TupleType(elems, None, fields, defaults)


def _read_tensor(tokens: TokenStream, scalar_type: int | None) -> TensorType:
    """Read the parenthesized properties of a tensor type."""
    tokens.expect("(")
    sizes: list[int | None] = []
    strides: list[int | None] | None = None
    device: str | None = None
    requires_grad: bool | None = None
    while not tokens.accept(")"):
        token = tokens.next()
        if token == "*":
            sizes.append(None)
        elif is_number(token):
            tokens.at -= 1
            sizes.append(tokens.integer())
        elif token == "strides":
            tokens.expect("=")
            tokens.expect("[")
            strides = []
            while not tokens.accept("]"):
                strides.append(tokens.integer())
                tokens.accept(",")
        elif token == "requires_grad":
            tokens.expect("=")
            requires_grad = tokens.next() == "1"
        elif token == "device":
            tokens.expect("=")
            device = tokens.next()
            if tokens.accept(":"):
                device += ":" + tokens.next()
        elif token == "SS":
            tokens.expect("(")
            tokens.next()
            tokens.expect(")")
            sizes.append(None)
        else:
            tokens.at -= 1
            raise tokens.error(f"unexpected {token!r} in a tensor type")
        tokens.accept(",")
    # If the text contains no sizes, the type has unknown rank if it has no dtype (`Tensor(device=cpu)`), and
    # rank 0 if it has a dtype (`Float(device=cpu)`).
    return TensorType(scalar_type, None if scalar_type is None else sizes, strides, device, requires_grad)


def _read_alias(tokens: TokenStream) -> AliasInfo | None:
    """Read an alias annotation such as ``(a|b! -> c)``, or return None."""
    if tokens.peek() != "(":
        return None
    begin = tokens.starts[tokens.at]
    tokens.next()
    before = _read_alias_set(tokens)
    is_write = tokens.accept("!")
    after = _read_alias_set(tokens) if tokens.accept("->") else None
    tokens.expect(")")
    return AliasInfo(before, is_write, after, (), tokens.text[begin : tokens.starts[tokens.at - 1] + 1])


def _read_alias_set(tokens: TokenStream) -> frozenset[str]:
    names = [tokens.next()]
    while tokens.accept("|"):
        names.append(tokens.next())
    return frozenset(names)
