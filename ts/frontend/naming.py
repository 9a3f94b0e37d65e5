"""Name mangling: each compiled type or function of a process has a unique qualified name.

Each line shows a call and its result or effect:

    qualified_name(f)             "__torch__.package.module.f"
    unique_name(name)             the name, changed by a number if it is in use
    register_live(script)         registers a type or function by a weak reference
    find_live(name)               the registered type or function

The runtime registers its constructor of script functions here. The frontend cannot import this constructor,
because `ts.runtime` imports the frontend.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from ts.ir.object_attributes import module_of
from ts.module_names import own_name

if TYPE_CHECKING:
    from ts.frontend.parse import ParsedFunction

# (name, qualified name, function that parses the source) -> script function. `ts.runtime` sets
# `_make_function`.
MakeFunction = Callable[[str, str, Callable[[], "ParsedFunction"]], Any]
_make_function: MakeFunction | None = None

# module of `ts`, with the prefix `torch` -> module in which PyTorch defines the same classes
_PYTORCH_MODULES: Final = {
    "torch.nn.modules.attention": "torch.nn.modules.activation",
    "torch.nn.modules.fractional": "torch.nn.modules.pooling",
    "torch.nn.modules.linear_loss": "torch.nn.modules.loss",
}
# name that `unique_name` returned without mangling -> marker object that this call of `unique_name` created
_names: Final[dict[str, object]] = {}
_live: WeakValueDictionary[str, object] = WeakValueDictionary()
_mangles = itertools.count()


def install(make_function: MakeFunction) -> None:
    """Register `make_function`, which creates script functions. A script function is compiled on demand."""
    global _make_function
    _make_function = make_function


def make_function(name: str, qualified_name: str, parse_it: Callable[[], ParsedFunction]) -> Any:
    """Create a script function. `parse_it` parses its source on first use."""
    assert _make_function is not None  # set when `ts.runtime` is imported
    return _make_function(name, qualified_name, parse_it)


def qualified_name(definition: Any) -> str:
    """Return the qualified name `__torch__.package.module.Name` of a class or a function.

    The module is omitted for definitions in `__main__`.
    """
    module = own_name(module_of(definition)) or "__main__"
    if module.startswith("ts."):  # in qualified names, classes of `ts.nn` have the module names of PyTorch
        module = f"torch.{module.removeprefix('ts.')}"
        if module.startswith("torch.nn.functional."):
            module = "torch.nn.functional"
        module = _PYTORCH_MODULES.get(module, module)
    prefix = "" if module == "__main__" else f"{module}."
    name = vars(definition).get("__ts_name__", definition.__name__)
    name = name.replace("<lambda>", "_lambda")
    return f"__torch__.{prefix}{name}".replace("<", "_").replace(">", "_")


def unique_name(name: str) -> str:
    """Return a name unused in this process, mangled as in PyTorch if `name` is taken.

    As in PyTorch, the name stays taken after its owner is deleted or fails to compile.
    """
    prefix, _, last = name.rpartition(".")
    marker = object()
    # `setdefault` is atomic: only one of several threads that request `name` at the same time receives it.
    if _names.setdefault(name, marker) is not marker:
        return f"{prefix}.___torch_mangle_{next(_mangles)}.{last}"
    return name


def find_live(name: str) -> object | None:
    """Return the type or script function registered as `name`, or None if no such object is alive."""
    return _live.get(name)


def register_live(definition: Any) -> None:
    """Register a type or a function for `find_live`."""
    name = definition.qualified_name
    _live[name if isinstance(name, str) else name()] = definition


def clear_names() -> None:
    """Forget all names, so that new classes get the same names as in a new process."""
    _names.clear()
    _live.clear()
