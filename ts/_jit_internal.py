"""PyTorch's private module `torch._jit_internal`, whose names are mostly defined in `ts.jit`."""

from __future__ import annotations

from typing import Any, Dict, Final, List, Optional, Tuple, Union  # noqa: UP035 -- imported by other packages

from ts.frontend.compile_directives import boolean_dispatch, export, ignore, is_scripting, unused
from ts.frontend.naming import qualified_name
from ts.frontend.overloads import overload as _overload
from ts.frontend.overloads import overload_method as _overload_method
from ts.futures import Future

__all__ = [
    "Any",
    "Dict",
    "Final",
    "Future",
    "List",
    "Optional",
    "Tuple",
    "Union",
    "_overload",
    "_overload_method",
    "_qualified_name",
    "boolean_dispatch",
    "export",
    "ignore",
    "is_scripting",
    "unused",
]


def _qualified_name(obj: Any, mangle_name: bool = True) -> str:
    """Return the script name of a class or function: `__torch__.package.module.Name`."""
    name = getattr(obj, "qualified_name", None)
    return name if isinstance(name, str) else qualified_name(obj)


def _copy_to_script_wrapper(fn: Any) -> Any:
    """Return the function unchanged.

    PyTorch marks `fn` as a method that scripted modules keep, but `ts` keeps all Python methods.
    """
    return fn
