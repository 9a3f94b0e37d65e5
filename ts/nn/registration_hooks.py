"""Global hooks, called when any module registers a parameter, buffer or submodule.

If a hook returns an object, the module registers this object instead.

Example:

    handle = register_module_parameter_registration_hook(lambda module, name, param: None)
    net.weight = nn.Parameter(...)          # calls the hook
    handle.remove()
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ts._core.tensor.hooks import RemovableHandle, add_hook

RegistrationHook = Callable[[Any, str, Any], Any]
_global_buffer_registration_hooks: OrderedDict[int, RegistrationHook] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, RegistrationHook] = OrderedDict()
_global_parameter_registration_hooks: OrderedDict[int, RegistrationHook] = OrderedDict()


def register_module_buffer_registration_hook(hook: RegistrationHook) -> RemovableHandle:
    """Call `hook(module, name, buffer)` when any module registers a buffer."""
    return add_hook(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: RegistrationHook) -> RemovableHandle:
    """Call `hook(module, name, submodule)` when any module registers a submodule."""
    return add_hook(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: RegistrationHook) -> RemovableHandle:
    """Call `hook(module, name, parameter)` when any module registers a parameter."""
    return add_hook(_global_parameter_registration_hooks, hook)


def call_hooks(hooks: OrderedDict[int, RegistrationHook], module: Any, name: str, value: Any) -> Any:
    """Call registration hooks in order and return the value that the module must register.

    If a hook returns a value other than None, this value replaces `value`, also for the following hooks.
    """
    for hook in list(hooks.values()):
        replacement = hook(module, name, value)
        if replacement is not None:
            value = replacement
    return value
