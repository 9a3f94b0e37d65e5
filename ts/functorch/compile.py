"""Module `functorch.compile`: boxed functions, which receive their arguments as one list.

Compilers of joint graphs are not supported. Each line shows an expression and its result:

    make_boxed_compiler(nop)         a compiler from a graph module to a boxed function
    aot_function(f, compiler)        NotImplementedError
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ts.unsupported.placeholders import placeholder

_NAMES_BY_MODULE: Final = {
    "_functorch.aot_autograd": (
        "aot_function aot_module aot_module_simplified compiled_function compiled_module "
        "get_aot_compilation_context get_aot_graph_name get_graph_being_compiled"
    ),
    "_functorch.compilers": (
        "debug_compile default_decompositions draw_graph_compile memory_efficient_fusion nnc_jit "
        "print_compile ts_compile"
    ),
    "_functorch.fx_minifier": "minifier",
    "_functorch.partitioners": "default_partition draw_graph min_cut_rematerialization_partition",
    "_functorch.python_key": "pythonkey_decompose",
    "_functorch": "config",
}
_PATHS: Final = {
    name: f"{module_path}.{name}" for module_path, names in _NAMES_BY_MODULE.items() for name in names.split()
}


def nop(fx_g: Any, _: Any) -> Any:
    """Return a graph module as a boxed function, without compiling it."""
    return make_boxed_func(fx_g)


def make_boxed_func(f: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    """Return a function that calls `f`. Its only parameter is a list, which contains the arguments of `f`."""

    def boxed(args: list[Any]) -> Any:
        return f(*args)

    boxed._boxed_call = True  # type: ignore[attr-defined]
    return boxed


def make_boxed_compiler(compiler: Callable[[Any, Any], Callable[..., Any]]) -> Callable[[Any, Any], Any]:
    """Wrap `compiler`: the functions that it returns receive their arguments as one list."""

    def compile_boxed(fx_g: Any, inps: Any) -> Any:
        return make_boxed_func(compiler(fx_g, inps))

    return compile_boxed


def __getattr__(name: str) -> Any:
    if name in _PATHS:
        return placeholder(_PATHS[name], "function")
    raise AttributeError(f"module 'functorch.compile' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PATHS})
