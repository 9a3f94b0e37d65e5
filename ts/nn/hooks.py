"""Hooks: functions that a module calls around `forward`, `state_dict` and `load_state_dict`.

In: a function to call; out: a handle that takes it away again:

    handle = module.register_forward_hook(lambda module, args, output: print(output.shape))
    handle.remove()
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ts._core.tensor.hooks import Hooks, RemovableHandle
from ts._core.thread.context import current_tracer


@dataclass(frozen=True)
class ForwardHook:
    """A function to call before or after `forward`, and how."""

    function: Callable[..., Any]
    with_kwargs: bool = False  # it takes the keyword arguments as well
    always_call: bool = False  # also where `forward` raises


# The hooks of all modules, which run before a module's own, and whether there are any.
_all_pre_hooks: Hooks = OrderedDict()
_all_hooks: Hooks = OrderedDict()
anywhere: tuple[Any, ...] = ()


class _HandleOfAll(RemovableHandle):
    """Takes a hook of all modules out."""

    def remove(self) -> None:
        super().remove()
        _count_hooks_of_all()


def _count_hooks_of_all() -> None:
    global anywhere
    anywhere = (*_all_pre_hooks, *_all_hooks)


def _add_for_all(hooks: Hooks, hook: ForwardHook) -> RemovableHandle:
    handle = _HandleOfAll(hooks)
    hooks[handle.id] = hook
    _count_hooks_of_all()
    return handle


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before the `forward` of every module."""
    return _add_for_all(_all_pre_hooks, ForwardHook(hook))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, result)` after the `forward` of every module."""
    return _add_for_all(_all_hooks, ForwardHook(hook, with_kwargs, always_call))


def call_forward(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`forward` between the module's hooks."""
    for hook in (*_all_pre_hooks.values(), *module._forward_pre_hooks.values()):
        if hook.with_kwargs:
            changed = hook.function(module, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                    f"but got {changed}."
                )
            args, kwargs = changed
        else:
            changed = hook.function(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    called: set[int] = set()
    try:
        tracer = current_tracer()
        forward = module.forward if tracer is None else tracer.forward_of(module)
        result = forward(*args, **kwargs)
        for key, hook in (*_all_hooks.items(), *module._forward_hooks.items()):
            called.add(key)
            changed = _call_after(hook, module, args, kwargs, result)
            if changed is not None:
                result = changed
    except Exception:
        for key, hook in (*_all_hooks.items(), *module._forward_hooks.items()):
            if hook.always_call and key not in called:
                _call_after(hook, module, args, kwargs, None)
        raise
    return result


def _call_after(
    hook: ForwardHook, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    if hook.with_kwargs:
        return hook.function(module, args, kwargs, result)
    return hook.function(module, args, result)
