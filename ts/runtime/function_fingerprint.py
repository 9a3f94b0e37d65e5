"""Fingerprint (content hash) of a Python function: a digest of its source and of the globals it uses.

The right column describes each attribute of a fingerprint:

    fingerprint = fingerprint_of(function)        None if a global cannot be encoded
    fingerprint.digest                            equal in two processes only if source and globals are equal
    fingerprint.frozen                            copy of the function with its current globals
    fingerprint.source                            source of the function

Globals can be numbers, strings, tuples of both, dtypes, devices, types in annotations, or builtins. They can
also be functions of `ts` and `math`, or scripted functions that have a fingerprint. For a function with other
globals, such as a class or a list, the result is None. The code cache does not store such a function.
"""

from __future__ import annotations

import ast
import builtins
import collections
import json
import math
import re
import sys
import typing
from collections.abc import Iterator
from types import BuiltinFunctionType, CellType, EllipsisType, FunctionType, ModuleType
from typing import Any, Final

from ts import devices, dtypes
from ts._core.dispatch.overloads import OverloadSet
from ts._core.dispatch.overrides import Overridable
from ts._core.late_binding import attribute_if_imported
from ts._core.tensor.tensor import Tensor
from ts.bytecode import disk_cache
from ts.frontend import python_syntax
from ts.frontend.function_source import FunctionSource, source_of_function
from ts.frontend.resolve import attribute, closure_of, to_ts
from ts.module_names import is_own
from ts.ops.namespace import OpOverload

_CONSTANT_MODULES: Final = ("math", "typing")  # Python modules whose attributes never change
_SCALAR_TYPES: Final = frozenset({type(None), bool, int, float, complex, str, EllipsisType})
_MODULES_BY_NAME: Final = {module.__name__: module for module in (builtins, typing, collections, math)}
_NAME: Final = r"[^\W\d]\w*"
_PACKAGE_NAMES: Final = ("ts", "torch")


class _NotFingerprintableError(Exception):
    """Raised for a value that a fingerprint cannot encode."""


class FunctionFingerprint:
    """Digest of a function's source and globals when it was scripted, with a copy of the function."""

    __slots__ = ("digest", "frozen", "scripted", "source")

    def __init__(
        self, digest: str, source: FunctionSource, frozen: FunctionType, scripted: tuple[Any, ...]
    ) -> None:
        self.digest = digest
        self.source = source
        self.frozen = frozen
        self.scripted = scripted  # scripted functions that the function calls or mentions


def fingerprint_of(function: FunctionType) -> FunctionFingerprint | None:
    """Return the fingerprint of a function, or None if the function uses a value without encoding."""
    # If the module `example_types` was not imported, no types of this function were inferred from example
    # calls.
    is_observed = attribute_if_imported("ts.frontend.example_types", "is_observed")
    if is_observed is not None and is_observed(function):
        return None
    if vars(function).keys() - {"__ts_script__"}:  # other attributes may change how the function is compiled
        return None
    try:
        source = source_of_function(function)
        tree = python_syntax.module(source.dedented)
        names = _NameCollector(function, tree, source.text)
        words = [
            [function.__name__, source.text, source.filename, source.first_line],
            str(dtypes.get_default_dtype()),
            names.encode(),
            [[name, _encode(value)] for name, value in sorted(function.__annotations__.items())],
            [_encode(value) for value in function.__defaults__ or ()],
            [[name, _encode(value)] for name, value in (function.__kwdefaults__ or {}).items()],
        ]
    except (_NotFingerprintableError, OSError, SyntaxError, ValueError, AttributeError):
        return None
    except (RecursionError, MemoryError):  # the source is nested too deeply, which the compiler will report
        return None
    digest = disk_cache.digest(json.dumps(words).encode())
    return FunctionFingerprint(digest, source, names.frozen(), tuple(names.scripted))


class _NameCollector:
    """Names in a function's source, including names in strings, which may be annotations."""

    def __init__(self, function: FunctionType, tree: ast.AST, source: str) -> None:
        if "type:" in source and re.search(r"#\s*type:", source):  # names in type comments are not in `tree`
            raise _NotFingerprintableError
        self._function = function
        self._closure = closure_of(function)
        self._identifiers: set[str] = set()
        self._attributes: dict[str, Any] = {}
        self.scripted: list[Any] = []
        docstring_nodes: set[ast.AST] = set()
        annotations = [value for value in function.__annotations__.values() if isinstance(value, str)]
        for node in [
            *ast.walk(tree),
            *(node for annotation in annotations for node in _parse_annotation(annotation)),
        ]:
            # a docstring is no annotation
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                docstring_nodes.add(node.value)
            elif node in docstring_nodes:
                continue
            elif isinstance(node, ast.Name):
                self._identifiers.add(node.id)
            elif isinstance(node, ast.Attribute):
                self._record_attribute(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._identifiers.update(re.findall(_NAME, node.value))
                for inner in _parse_annotation(node.value):
                    if isinstance(inner, ast.Attribute):
                        self._record_attribute(inner)

    def encode(self) -> list[Any]:
        """Return sorted pairs (name, encoded value).

        The names are those that the function uses, and the names of attributes of modules.
        """
        encoded = [[word, self._meaning(word)] for word in sorted(self._identifiers)]
        return [*encoded, *sorted(self._attributes.items())]

    def _meaning(self, word: str) -> Any:
        value = self._lookup(word)
        if not hasattr(type(value), "ensure_compiled"):
            return _encode(value)
        digest = getattr(value, "digest", None)
        if digest is None:
            raise _NotFingerprintableError(word)
        self.scripted.append(value)
        return ["scripted", digest]

    def frozen(self) -> FunctionType:
        """Return a copy of the function whose globals keep their current values."""
        function, code = self._function, self._function.__code__
        values = function.__globals__
        scope = {word: values[word] for word in self._identifiers if word in values}
        captured = ([self._closure[name]] if name in self._closure else [] for name in code.co_freevars)
        cells = tuple(CellType(*contents) for contents in captured)
        copied = FunctionType(code, scope, function.__name__, function.__defaults__, cells)
        copied.__kwdefaults__ = dict(function.__kwdefaults__ or {}) or None
        copied.__annotations__ = dict(function.__annotations__)
        copied.__doc__, copied.__module__ = function.__doc__, function.__module__
        copied.__qualname__ = function.__qualname__
        return copied

    def _lookup(self, name: str) -> Any:
        """Return the value of a name, as `Resolver.lookup` does, or `_ABSENT` if it is undefined."""
        for scope in (self._closure, self._function.__globals__):
            if name in scope:
                return to_ts(scope[name])
        if name in _PACKAGE_NAMES:
            return sys.modules["ts"]
        # The function is recursive, and the name will be bound to the scripted function.
        if name == self._function.__name__:
            raise _NotFingerprintableError
        return vars(builtins).get(name, _ABSENT)

    def _record_attribute(self, node: ast.Attribute) -> None:
        """Store the value of an attribute of a module, such as `ts.nn.functional.relu`."""
        path: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            path.append(inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name):
            return
        value = self._lookup(inner.id)
        qualified_name = inner.id
        while isinstance(value, ModuleType) and path:
            _encode(value)  # raises an error if attributes of the module may change
            name = path.pop()
            qualified_name += f".{name}"
            try:
                value = attribute(value, name)
            except AttributeError:
                value = _ABSENT
        self._attributes[qualified_name] = _encode(value)


_ABSENT: Final = object()


def _parse_annotation(annotation: str) -> Iterator[ast.AST]:
    """Yield the nodes of the syntax tree of a string that may be an annotation."""
    try:
        yield from ast.walk(python_syntax.expression(annotation))
    except (SyntaxError, ValueError):
        return


def _encode(value: Any) -> Any:
    """Return the JSON encoding of a value. Raise `_NotFingerprintableError` if it has none."""
    kind = type(value)
    if value is _ABSENT:
        return "absent"
    if kind in _SCALAR_TYPES:
        return [kind.__name__, repr(value)]
    if kind is tuple:
        return ["tuple", *map(_encode, value)]
    if kind in (dtypes.dtype, dtypes.layout, dtypes.memory_format, devices.device):
        return [kind.__name__, str(value)]
    if kind is OverloadSet:
        return ["operator", value.name]
    if kind is OpOverload:
        return ["overload", value.name()]
    if kind is ModuleType:
        return ["module", _module(value)]
    arguments = typing.get_args(value)
    if arguments:
        return ["of", _encode(typing.get_origin(value)), *map(_encode, arguments)]
    return _encode_global(value)


def _module(module: ModuleType) -> str:
    name = module.__name__
    if sys.modules.get(name) is not module or name.partition(".")[0] not in ("ts", *_CONSTANT_MODULES):
        raise _NotFingerprintableError(name)
    return name


def _encode_global(value: Any) -> list[str]:
    """Encode a class or function by its module and name.

    Raise `_NotFingerprintableError` if the module has another object under this name.
    """
    value = _unwrap(value)
    if value in (Tensor, type(None)):
        return ["class", value.__name__]
    name = getattr(value, "_name", None) or getattr(value, "__name__", "")
    module: Any = None
    if isinstance(value, type | BuiltinFunctionType):
        module = _MODULES_BY_NAME.get(value.__module__ or "")
    elif type(value).__module__ == "typing":
        module = typing
    elif isinstance(value, FunctionType) and is_own(value.__module__):
        module = sys.modules.get(value.__module__)
    if module is None or _unwrap(vars(module).get(name)) is not value:
        raise _NotFingerprintableError(name)
    return [type(value).__name__, module.__name__, name]


def _unwrap(value: Any) -> Any:
    """Return the function that an overridable function wraps, and return other values unchanged."""
    return value.__wrapped__ if isinstance(value, Overridable) else value
