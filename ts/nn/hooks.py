"""Module hooks: functions called around `forward`, `state_dict`, `load_state_dict` and backward.

Input: a function to call. Output: a handle that removes the hook. Example:

    handle = module.register_forward_hook(lambda module, args, output: print(output.shape))
    handle.remove()
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ts._core.tensor.hooks import Hooks, RemovableHandle
from ts._core.thread.context import current_tracer


class ForwardHook:
    """Hook of `forward`, with flags that determine its arguments and when it is called."""

    __slots__ = ("always_call", "function", "with_kwargs")

    def __init__(
        self, function: Callable[..., Any], with_kwargs: bool = False, always_call: bool = False
    ) -> None:
        self.function = function
        self.with_kwargs = with_kwargs  # the hook also receives the keyword arguments
        self.always_call = always_call  # the hook is called even if `forward` raises an error


# Global hooks, which are called before the hooks of a module.
_all_pre_hooks: Hooks = OrderedDict()
_all_hooks: Hooks = OrderedDict()
_all_backward_pre_hooks: Hooks = OrderedDict()
_all_backward_hooks: Hooks = OrderedDict()
_all_are_full = True  # False after a non-full global backward hook was registered
anywhere: tuple[Any, ...] = ()


class _GlobalHookHandle(RemovableHandle):
    """Handle that removes a global hook."""

    def remove(self) -> None:
        super().remove()
        _update_global_hooks()


def _update_global_hooks() -> None:
    global anywhere
    anywhere = (*_all_pre_hooks, *_all_hooks, *_all_backward_pre_hooks, *_all_backward_hooks)


def _add_global_hook(hooks: Hooks, hook: Any) -> RemovableHandle:
    handle = _GlobalHookHandle(hooks)
    hooks[handle.id] = hook
    _update_global_hooks()
    return handle


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before the `forward` of every module."""
    return _add_global_hook(_all_pre_hooks, ForwardHook(hook))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, result)` after the `forward` of every module."""
    return _add_global_hook(_all_hooks, ForwardHook(hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register a hook of all modules, called as `hook(module, grad_output)` with gradients of the results."""
    return _add_global_hook(_all_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register a full backward hook of all modules, called as `hook(module, grad_input, grad_output)`.

    It is called when the gradients of a module's arguments are computed.
    """
    return _add_backward_hook(hook, full=True)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register a non-full backward hook for all modules (see `Module.register_backward_hook`)."""
    return _add_backward_hook(hook, full=False)


def _add_backward_hook(hook: Callable[..., Any], full: bool) -> RemovableHandle:
    global _all_are_full
    if _all_backward_hooks and _all_are_full is not full:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please "
            "use only one of them."
        )
    _all_are_full = full
    return _add_global_hook(_all_backward_hooks, hook)


def call_forward(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the forward pre-hooks, `forward` and the forward hooks of a module."""
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
    full, older, before = _backward_hooks_of(module)
    around: Any = None
    if full or before:
        from ts.nn.backward_hooks import BackwardHooks  # imported here, as few modules have backward hooks

        around = BackwardHooks(module, full, before)
        args = around.enter(args)
    called_keys: set[int] = set()
    try:
        tracer = current_tracer()
        forward = module.forward if tracer is None else tracer.forward_of(module)
        result = forward(*args, **kwargs)
        for key, hook in (*_all_hooks.items(), *module._forward_hooks.items()):
            called_keys.add(key)
            changed = _call_forward_hook(hook, module, args, kwargs, result)
            if changed is not None:
                result = changed
        if around is not None:
            result = around.leave(result)
        if older:
            from ts.nn.backward_hooks import hook_result_node

            hook_result_node(module, older, args, result)
    except Exception:
        for key, hook in (*_all_hooks.items(), *module._forward_hooks.items()):
            if hook.always_call and key not in called_keys:
                _call_forward_hook(hook, module, args, kwargs, None)
        raise
    return result


def _call_forward_hook(
    hook: ForwardHook, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    if hook.with_kwargs:
        return hook.function(module, args, kwargs, result)
    return hook.function(module, args, result)


def _backward_hooks_of(module: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Return (full backward hooks, non-full backward hooks, backward pre-hooks) of a module.

    In each list, global hooks are first.
    """
    full: list[Any] = []
    older: list[Any] = []
    (full if _all_are_full else older).extend(_all_backward_hooks.values())
    (full if module._is_full_backward_hook is not False else older).extend(module._backward_hooks.values())
    return full, older, [*_all_backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
