"""The public face, under the names of `torch.jit`.

    @ts.jit.script                               compiles a function; it is called as before
    ts.jit.CompilationUnit(text).name            compiles a string of functions
    ts.jit.annotate(List[int], [])               gives an expression a type
    ts.jit.is_scripting()                        False here, True inside compiled code

Names are looked up on first use, as in `ts` itself.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ts.errors import FrontendError as FrontendError
    from ts.errors import ScriptRuntimeError
    from ts.jit.scripting import CompilationUnit as CompilationUnit
    from ts.jit.scripting import script as script
    from ts.runtime.function import ScriptFunction as ScriptFunction

    Error = ScriptRuntimeError

_HOMES: dict[str, tuple[str, str]] = {
    "script": ("ts.jit.scripting", "script"),
    "CompilationUnit": ("ts.jit.scripting", "CompilationUnit"),
    "ScriptFunction": ("ts.runtime.function", "ScriptFunction"),
    "annotate": ("ts.jit.markers", "annotate"),
    "ignore": ("ts.jit.markers", "ignore"),
    "unused": ("ts.jit.markers", "unused"),
    "export": ("ts.jit.markers", "export"),
    "is_scripting": ("ts.jit.markers", "is_scripting"),
    "is_tracing": ("ts.jit.markers", "is_tracing"),
    "isinstance": ("ts.jit.markers", "isinstance"),
    "Final": ("typing", "Final"),
    "Error": ("ts.errors", "ScriptRuntimeError"),
    "FrontendError": ("ts.errors", "FrontendError"),
    "NotSupportedError": ("ts.errors", "NotSupportedError"),
    "create_function_from_graph": ("ts.runtime.function", "create_function_from_graph"),
    "optimized_execution": ("ts.runtime.executor", "optimized_execution"),
    "interpret_graph": ("ts.runtime.function", "interpret_graph"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ts.jit' has no attribute '{name}'")
    module, attribute = _HOMES[name]
    value = getattr(importlib.import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
