"""Inference of parameter types from example calls (`script(f, example_inputs=...)`).

All Python functions that run in the example calls get annotations for their parameters. Example:

    def total(xs): return sum(xs)
    observe([(total, ([1, 2],))])
    annotation_of(total, "xs")       list[int]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

from ts.dtypes import dtype as DType
from ts.module_names import is_own

Call = tuple[Callable[..., Any], Iterable[Any]]

_observed: WeakKeyDictionary[CodeType, dict[str, Any]] = WeakKeyDictionary()


def observe(calls: Iterable[Call]) -> None:
    """Execute the calls, and record argument types of all Python functions that run, except those of `ts`."""
    observed_types: dict[CodeType, dict[str, list[Any]]] = {}

    def record_types(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or is_own(frame.f_globals.get("__name__")):
            return
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        types_by_name = observed_types.setdefault(code, {})
        for name in names:
            annotation = annotation_of_value(frame.f_locals.get(name))
            kinds = types_by_name.setdefault(name, [])
            if annotation not in kinds:
                kinds.append(annotation)

    previous_profiler = sys.getprofile()
    for function, arguments in calls:
        sys.setprofile(record_types)
        try:
            function(*arguments)
        finally:
            sys.setprofile(previous_profiler)
    for code, types_by_name in observed_types.items():
        _observed[code] = {
            name: kinds[0] if len(kinds) == 1 else Any for name, kinds in types_by_name.items()
        }


def annotation_of(function: FunctionType | MethodType | None, name: str) -> Any | None:
    """Return the annotation of parameter `name`, inferred from the observed example calls of `function`.

    Return None if no call of `function` was observed.
    """
    if function is None or not _observed:
        return None
    return _observed.get(function.__code__, {}).get(name)


def is_observed(function: FunctionType) -> bool:
    """Return whether example inputs were observed for a function."""
    return function.__code__ in _observed


def annotation_of_value(value: Any) -> Any:
    """Return an annotation whose type includes the value: `list[int]` for [1, 2]."""
    if isinstance(value, DType):
        return int
    if type(value) is tuple:
        elements = tuple(map(annotation_of_value, value))
        return tuple[elements] if elements else tuple[()]  # type: ignore[valid-type]
    if isinstance(value, list):
        return list[_common(value)]  # type: ignore[misc]
    if isinstance(value, dict):
        return dict[_common(value), _common(value.values())]  # type: ignore[misc]
    return type(value)


def _common(values: Iterable[Any]) -> Any:
    kinds: list[Any] = []
    for value in values:
        kind = annotation_of_value(value)
        if kind not in kinds:
            kinds.append(kind)
    return kinds[0] if len(kinds) == 1 else Any
