"""Detection of functions that modify objects reachable from their closures, globals or modules.

Input: functions, before they are called. Output: True if a call has modified an object.

In the example, `true_fn` appends to a list. `restore` restores the list and returns True:

    snapshot = SideEffectSnapshot([true_fn, false_fn])
    true_fn(x)
    snapshot.restore()

Containers with more than `_MAX_ITEMS` elements are not searched.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts.nn.modules.module import Module

_MAX_DEPTH: Final = 8
_MAX_ITEMS: Final = 1000
_OF_MODULES: Final = ("_parameters", "_buffers", "_modules")
_SIMPLE = int | float | str | bytes | bool | None | type | types.ModuleType
_VALUES = int | float | str | bytes | bool


def walk(name: str, x: Any, join: Any, depth: int = 0, seen: dict[int, Any] | None = None) -> Iterator[Any]:
    """Yield (path, object) once for each object to which `x` refers, directly or through other objects.

    name   path of `x`, such as "net"
    join   function that appends a step to a path: ("net", ".weight") -> "net.weight"
    """
    seen = {} if seen is None else seen
    if isinstance(x, _SIMPLE) or depth > _MAX_DEPTH or id(x) in seen:
        return
    seen[id(x)] = x
    yield name, x
    if not isinstance(x, Tensor | SymNumber):
        for step, child in _children(x):
            yield from walk(join(name, step), child, join, depth + 1, seen)


def _children(x: Any) -> Iterable[tuple[str, Any]]:
    """Return the elements and attributes of an object as (step, child), such as (".weight", tensor)."""
    if isinstance(x, types.FunctionType):
        for i, cell in enumerate(x.__closure__ or ()):
            yield f".closure[{i}]", cell
        for name in x.__code__.co_names:
            if isinstance(x.__globals__.get(name), Tensor | Module | types.FunctionType | list | dict):
                yield f"g_{name}_", x.__globals__[name]
    elif isinstance(x, types.CellType):
        if is_filled(x):
            yield ".cell_contents", x.cell_contents
    elif isinstance(x, types.MethodType):
        yield ".self", x.__self__
        yield ".func", x.__func__
    elif isinstance(x, functools.partial):
        yield ".func", x.func
        yield ".args", x.args
        yield ".keywords", x.keywords
    elif isinstance(x, Module):
        yield from ((f".{name}", getattr(x, name)) for name in _OF_MODULES)
        yield from ((f".{name}", child) for name, child in vars(x).items() if not name.startswith("_"))
    elif isinstance(x, list | tuple):
        yield from ((f"[{i}]", y) for i, y in enumerate(x if len(x) <= _MAX_ITEMS else ()))
    elif isinstance(x, dict):
        yield from ((f"[{key}]", y) for key, y in (x.items() if len(x) <= _MAX_ITEMS else ()))
    elif hasattr(x, "__dict__") and not callable(x):
        yield from ((f".{name}", y) for name, y in vars(x).items())


def is_filled(cell: types.CellType) -> bool:
    """Return True if a closure cell has a value."""
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


class SideEffectSnapshot:
    """Copies of the mutable objects that functions refer to, directly or indirectly."""

    def __init__(self, functions: Iterable[Any]) -> None:
        self._snapshots: list[tuple[Any, Any]] = []
        visited: dict[int, Any] = {}
        for function in functions:
            for _, x in walk("", function, lambda name, step: "", 0, visited):
                self._save(x)

    def _save(self, x: Any) -> None:
        if isinstance(x, list | dict):
            if len(x) <= _MAX_ITEMS:
                self._snapshots.append((x, x.copy()))
        elif isinstance(x, types.CellType):
            self._snapshots.append((x, [x.cell_contents] if is_filled(x) else []))
        elif isinstance(x, Module) or (
            hasattr(x, "__dict__") and not callable(x) and not isinstance(x, Tensor)
        ):
            self._snapshots.append((x, dict(vars(x))))

    def restore(self) -> bool:
        """Restore the objects from their copies.

        Return whether at least one object had changed since it was copied.
        """
        changed = False
        for x, before in self._snapshots:
            if isinstance(x, types.CellType):
                current: Any = [x.cell_contents] if is_filled(x) else []
            else:
                current = x if isinstance(x, list | dict) else _public(vars(x))
            saved = before if isinstance(x, list | dict | types.CellType) else _public(before)
            if not _same(current, saved):
                changed = True
                _restore(x, before)
        return changed


def _public(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if not name.startswith("_")}


def _same(current: Any, saved: Any) -> bool:
    if len(current) != len(saved):
        return False
    if isinstance(current, dict):
        return list(current) == list(saved) and _same(list(current.values()), list(saved.values()))
    return all(
        a is b or (isinstance(a, _VALUES) and type(a) is type(b) and a == b)
        for a, b in zip(current, saved, strict=True)
    )


def _restore(x: Any, before: Any) -> None:
    if isinstance(x, list):
        x[:] = before
    elif isinstance(x, types.CellType):
        if before:
            x.cell_contents = before[0]
        else:
            del x.cell_contents
    else:
        attributes = x if isinstance(x, dict) else vars(x)
        attributes.clear()
        attributes.update(before)
