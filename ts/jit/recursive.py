"""Construction of script modules with selected methods, under the names of `torch.jit._recursive`.

Each line shows a call and its result:

    create_script_module(net, infer_methods_to_compile)      the same as script(net)
    create_script_module(net, lambda module: [])             a script module without compiled methods
    unique_state_dict(net)                                   state dict without duplicate tensors
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ts.frontend.modules import clear_shared_types
from ts.frontend.naming import clear_names
from ts.nn import Module
from ts.runtime.module import ScriptModule, entry_points, script_module, scripted_with


def infer_methods_to_compile(nn_module: Module) -> list[str]:
    """Return the names of the methods to compile: `forward`, exported methods and hooks."""
    return entry_points(nn_module)


def create_script_module(
    nn_module: Module,
    stubs_fn: Callable[[Module], list[str]],
    share_types: bool = True,
    is_tracing: bool = False,
) -> ScriptModule:
    """Return the scripted form of a module, with the methods that `stubs_fn` selects.

    With `share_types=False`, the module has a new type instead of the type of an equal scripted module.
    """
    if share_types and stubs_fn is infer_methods_to_compile:
        return script_module(nn_module)
    return scripted_with(nn_module, stubs_fn(nn_module), share_types)


def clear_class_registry() -> None:
    """Clear the registry of qualified names and the cache of module types.

    Modules that are scripted later get the names that they would get in a new process.
    """
    clear_names()
    clear_shared_types()


def unique_state_dict(module: Module, keep_vars: bool = False) -> OrderedDict[str, Any]:
    """Return the state dict of a module, in which each tensor occurs once, under its first name."""
    seen: set[int] = set()
    state: OrderedDict[str, Any] = OrderedDict()
    for name, value in module.state_dict(keep_vars=True).items():
        if id(value) not in seen:
            seen.add(id(value))
            state[name] = value if keep_vars else value.detach()
    return state
