"""Import hook (meta path finder) for modules of `ts` and for modules that only PyTorch has.

The finder is the first one in `sys.meta_path`. Each line shows an import and its effect:

    import ts.nn.modules.module         runs the file. `ts.unsupported` provides names that only PyTorch has
    import ts.onnx                      no file: `ts.unsupported` creates a module of placeholders
"""

from __future__ import annotations

import importlib
import sys
from functools import partial
from types import FunctionType

from ts.module_names import is_installed, own_name, torch_name

TYPE_CHECKING = False  # not imported from `typing`, because `import ts` imports this module
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

# Packages of `ts` that PyTorch does not have. `ts.unsupported` adds no names to these packages.
_OWN = frozenset({
    "_compiled__mypyc",
    "_core", "unsupported", "analysis", "archive", "as_torch", "autodiff", "bytecode", "classes", "cli",
    "debugger", "devices", "dtypes", "errors", "report", "frontend", "python_api", "functorch",
    "fusion",
    "import_hook", "ir", "module_names", "ops",
    "passes", "runtime", "serve", "tracing",
})  # fmt: skip
# Prefixes of modules that get no fallback `__getattr__`. Functions of these modules contain `import`
# statements, each of which would call the fallback with the name "__path__".
_OWN_BACKENDS = ("ts.backends.cpu.", "ts.backends.cuda.", "ts.backends.meta", "ts.backends.sparse")
# Modules that are packages in PyTorch but single files here. They receive a `__path__`, so that their
# submodules can be imported.
_PACKAGES = frozenset({
    "ts._C", "ts.accelerator", "ts.backends.cudnn", "ts.compiler", "ts.distributed.launcher",
    "ts.distributed.optim", "ts.mps", "ts.signal.windows", "ts.xpu",
})  # fmt: skip
_PYTORCH_MODULES = {
    "ts._core.autograd.node.Node": "torch.autograd.graph",
    "ts._core.vm.future.Future": "torch.futures",
}


class Finder:
    """Finder for modules of `ts` in `sys.meta_path`."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the import spec of the module `name`, such as "ts.nn".

        Return None for modules of other packages, so that other finders import them. Unless `ts` is installed
        as `torch`, also return None for modules that are private to `ts`.
        """
        if not name.startswith("ts.") or (_is_private_to_ts(name) and not is_installed()):
            return None
        for finder in sys.meta_path:
            spec = None if finder is Finder else finder.find_spec(name, path, target)
            if spec is not None:
                break
        else:
            return importlib.import_module("ts.unsupported").spec_of(name)  # type: ignore[no-any-return]
        loader = spec.loader
        if loader is not None and hasattr(loader, "exec_module"):
            loader.exec_module = partial(_execute, loader.exec_module)  # type: ignore[method-assign]
        return spec


def _execute(execute: Callable[[ModuleType], None], module: ModuleType) -> None:
    execute(module)
    install_fallback(module)


def install_fallback(module: ModuleType) -> None:
    """Set `__getattr__` of an executed module, so that `ts.unsupported` resolves the names that it lacks.

    If `ts` is installed as `torch`, also rename the module, its classes and its functions.
    """
    if not _is_private_to_ts(module.__name__):
        from ts.unsupported import names_for

        if module.__name__ in _PACKAGES:
            module.__path__ = []
        module_getattr = vars(module).get("__getattr__")
        if own_name(getattr(module_getattr, "__module__", None)) != "ts.unsupported":
            vars(module)["__getattr__"] = names_for(module.__name__, module_getattr)
    if is_installed():
        rename(module)


def _is_private_to_ts(name: str) -> bool:
    """Return True if a module is private to `ts` and has no counterpart in PyTorch."""
    return name.split(".", 2)[1] in _OWN or name.startswith(_OWN_BACKENDS)


def rename(module: ModuleType) -> None:
    """Set the names (`__name__`, `__module__`) of a module, its classes and its functions to PyTorch's."""
    name = vars(module)["__spec__"].name
    for each, value in list(vars(module).items()):
        # an `Overridable` wraps a function
        function = value.__wrapped__ if "__wrapped__" in vars(type(value)) else value
        has_module_name = isinstance(function, FunctionType | type) or "__module__" in getattr(
            function, "__dict__", ()
        )
        if not has_module_name or function.__module__ not in (name, "ts"):
            continue
        torch_module = _find_pytorch_module(name, each) if function.__module__ == name else "torch"
        try:
            function.__module__ = torch_module
        except TypeError:  # the `__module__` of a C class is read-only
            qualified = f"{torch_module}.{function.__name__}"
            importlib.import_module("ts._core.value.type_names").set_qualified_name(function, qualified)
    module.__name__ = torch_name(name)
    sys.modules.setdefault(module.__name__, module)


def _find_pytorch_module(module: str, name: str) -> str:
    """Return the PyTorch module of an object. It is `torch` for a top-level name of `ts`."""
    if module.partition(".")[2].partition(".")[0] in _OWN:
        default = "torch" if name in sys.modules["ts"]._NAME_TO_MODULE else torch_name(module)
        return _PYTORCH_MODULES.get(f"{module}.{name}", default)
    return torch_name(module)


def install() -> None:
    """Insert the finder at the front of `sys.meta_path`."""
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]
