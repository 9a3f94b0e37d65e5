"""Compilation of generated code whose source is available to tracebacks, `inspect` and scripts.

The source is stored in no file. Example:

    forward = forward_from_src("def forward(self, x):\\n    return x + 1\\n", {})
    inspect.getsource(forward)                the generated source
"""

from __future__ import annotations

import itertools
import linecache
import pickle
from collections.abc import Callable
from typing import Any

from ts.fx.namespace import CUSTOM_BUILTINS
from ts.fx.torch_names import is_from_torch

_numbers = itertools.count()


def _add_to_linecache(src: str, co_fields: dict[str, Any] | None) -> str:
    """Store generated source in `linecache` under a new file name, and return the name."""
    key = f"<eval_with_key>.{next(_numbers)}"
    if co_fields and {"co_filename", "co_firstlineno", "co_name"} <= set(co_fields):
        key += f" from {co_fields['co_filename']}:{co_fields['co_firstlineno']} in {co_fields['co_name']}"
    elif co_fields and "co_filename" in co_fields:
        key = co_fields["co_filename"]
    linecache.cache[key] = len(src), None, src.splitlines(keepends=True), key
    return key


def exec_with_source(src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None) -> None:
    """Execute generated code, and make its source available to tracebacks and `inspect`."""
    exec(compile(src, _add_to_linecache(src, co_fields), "exec", dont_inherit=True), globals)


def method_from_src(
    method_name: str, src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """Execute code and return the function `method_name` that it defines."""
    names = globals.copy()
    exec_with_source(src, names, co_fields)
    return names.pop(method_name)  # type: ignore[no-any-return]


def forward_from_src(
    src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """Execute code and return the function `forward` that it defines."""
    return method_from_src("forward", src, globals, co_fields)


def _import_statement(name: str, obj: Any) -> str:
    if name in CUSTOM_BUILTINS:
        return CUSTOM_BUILTINS[name].import_str
    if is_from_torch(obj):
        return "import ts as torch"
    attribute = getattr(obj, "__qualname__", None) or obj.__name__
    return f"from {pickle.whichmodule(obj, attribute)} import {attribute} as {name}"  # type: ignore[attr-defined]


def import_block(globals: dict[str, Any]) -> str:
    """Return the import statements for the globals of generated code."""
    return "\n".join(sorted({_import_statement(name, obj) for name, obj in globals.items()}))
