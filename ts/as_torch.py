"""Installation of `ts` as `torch` in this process, for packages that are written for PyTorch.

After the installation, imports of `torch` and its submodules return the modules of `ts`:

    import ts
    ts.install_as_torch()
    import timm

The command line installs `ts` before a program or module starts:

    python -m ts.as_torch program.py ARGUMENTS
    python -m ts.as_torch -m module ARGUMENTS

`torch.__version__` and the metadata of the distribution `torch` state the PyTorch version that `ts`
implements. Missing features raise an error when they are used (`ts.unsupported`). C++ extensions that are
linked with PyTorch do not work. Packages that require PyTorch's compiler do not work either.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import multiprocessing.spawn
import operator
import os
import runpy
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import ts
from ts import import_hook, module_names

__all__ = ["BEHAVES_AS", "install_as_torch"]

_ANY_CONTEXT = importlib.metadata.DistributionFinder.Context()
BEHAVES_AS = ts.__version__


class _Distribution(importlib.metadata.Distribution):
    """Package metadata that represents an installed PyTorch."""

    def read_text(self, filename: str) -> str | None:
        if filename == "METADATA":
            return f"Metadata-Version: 2.1\nName: torch\nVersion: {BEHAVES_AS}\nSummary: ts, as torch\n"
        return None

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(f"the distribution torch is provided by ts, which has no file {path}")


class _LoadedModuleLoader(importlib.abc.Loader):
    """Loader that returns an already imported module and does not execute it again."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import of `torch.x` has replaced the spec of the module `ts.x`
        module.__loader__ = None if self.spec is None else self.spec.loader
        # Register the loaded submodules of `ts.x` by their `torch` names, too. Without this registration, an
        # import by such a name would overwrite attributes of the same name, such as the function
        # `torch.multiprocessing.spawn`.
        for name, loaded in list(sys.modules.items()):
            if name.startswith(f"{module.__name__}.") and name.startswith("ts."):
                sys.modules.setdefault(f"torch{name[2:]}", loaded)


class _Finder(importlib.metadata.DistributionFinder):
    """Finder in `sys.meta_path` that resolves `torch.x` to the module `ts.x`."""

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        package = name.partition(".")[0]
        if package not in ("torch", "functorch"):  # the top-level packages of PyTorch
            return None
        ts_name = f"ts{name[5:]}" if package == "torch" else f"ts.{name}"
        try:
            module = importlib.import_module(ts_name)
        except ModuleNotFoundError as error:
            if error.name != ts_name:
                raise
            message = f"No module named {name!r}: PyTorch 2.13 has no such module, or ts has no {ts_name}"
            raise ModuleNotFoundError(message, name=name) from None
        # Remove the entry for `name`. Otherwise, the import system would execute the module again.
        sys.modules.pop(name, None)
        is_package = hasattr(module, "__path__")
        return importlib.machinery.ModuleSpec(name, _LoadedModuleLoader(module), is_package=is_package)

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context = _ANY_CONTEXT
    ) -> Iterable[importlib.metadata.Distribution]:
        if context.name is not None and context.name.lower() == "torch":
            yield _Distribution()


_FINDER = _Finder()


class _Module:
    """Object whose unpickling imports the module `name` and returns the module."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.name,)


class _SearchPath:
    """Object that sets `sys.path` of a child process when it is unpickled there.

    The child gets the `sys.path` of this process, so that it finds `ts`.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return setattr, (_Module("sys"), "path", list(sys.path))


class _Installation:
    """Object whose unpickling calls `ts.install_as_torch`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return operator.methodcaller("install_as_torch"), (_Module("ts"),)


def _install_in_child_processes() -> None:
    """Install `ts` as `torch` in `multiprocessing` children before they import the main module.

    Forked processes inherit the installation. Processes of `spawn` and `forkserver` unpickle the data that
    `get_preparation_data` returns. Therefore, an `_Installation` is added to this data.
    """
    prepare: Callable[[str], dict[str, Any]] = multiprocessing.spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {**prepare(name), "torch": (_SearchPath(), _Installation())}

    multiprocessing.spawn.get_preparation_data = get_preparation_data


def install_as_torch() -> None:
    """Make `import torch` return `ts`. Its modules, classes and functions get PyTorch's names.

    Raises RuntimeError if PyTorch itself is already imported, because its objects would mix with those of
    `ts`. A second call has no effect.
    """
    if sys.modules.get("torch") is ts:
        return
    if "torch" in sys.modules:
        raise RuntimeError(
            "PyTorch is already imported: call ts.install_as_torch() before importing modules that use "
            "torch, or start the program with `python -m ts.as_torch`"
        )
    sys.meta_path.insert(0, _FINDER)
    importlib.import_module("torch")
    module_names.set_installed()
    for name in [name for name in sys.modules if name == "ts" or name.startswith("ts.")]:
        import_hook.rename(sys.modules[name])
    _install_in_child_processes()


def main(arguments: list[str]) -> None:
    """Run a program, or, with `-m`, a module."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: python -m ts.as_torch PROGRAM.py [ARGUMENTS]")
        print("       python -m ts.as_torch -m MODULE [ARGUMENTS]")
        raise SystemExit(0 if arguments else 2)
    if arguments[0] != "-m" and not os.path.exists(arguments[0]):
        raise SystemExit(f"python -m ts.as_torch: no such file: {arguments[0]}")
    install_as_torch()
    if arguments[0] != "-m":
        sys.argv = arguments
        sys.path[0] = str(importlib.import_module("pathlib").Path(arguments[0]).resolve().parent)
        runpy.run_path(os.path.abspath(arguments[0]), run_name="__main__")
    elif len(arguments) > 1:
        sys.argv = arguments[1:]
        name = arguments[1]
        # Run `torch.x` under the name `ts.x`, because runpy needs the code object of the module
        ts_name = f"ts{name[5:]}" if name.startswith("torch.") else name
        runpy.run_module(ts_name, run_name="__main__", alter_sys=True)
    else:
        raise SystemExit("python -m ts.as_torch: expected the name of a module after -m")


if __name__ == "__main__":
    main(sys.argv[1:])
