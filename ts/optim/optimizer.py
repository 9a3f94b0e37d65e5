"""Base class of optimizers, with parameter groups, options of groups, and a state per parameter.

Input: tensors, `(name, tensor)` pairs, or groups such as `{"params": [...], "lr": 0.1}`. The method `step`
changes the tensors. A subclass defines the update of one parameter:

    class Descent(Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, {"lr": lr})

        def update(self, x, grad, state, group):
            x.add_(grad, alpha=-group["lr"])

Instead of `update`, a subclass can override `update_all`, which updates all parameters of a group.
"""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, ClassVar, TypeAlias

import ts
from ts._core.tensor.hooks import RemovableHandle, add_hook
from ts._core.tensor.tensor import Tensor
from ts.module_names import own_name
from ts.optim.sparse_steps import are_dense

Group = dict[str, Any]
Closure = Callable[[], Any]


ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Return the default values of the options `fused` and `foreach`."""
    if differentiable:
        return False, False
    fused = use_fused and all(p is None or p.is_floating_point() for p in params)
    on_device = all(p is None or p.device.type == "cuda" for p in params)
    return fused, not fused and bool(params) and on_device


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Return the types of devices on which optimizer steps can be captured in CUDA graphs."""
    return ["cuda", "xpu", "hpu", "privateuseone"] + (["xla"] if supports_xla else [])


def _get_value(x: Any) -> Any:
    """Return `x.item()` for a tensor, and any other value unchanged."""
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x: Any) -> Any:
    """Return the argument unchanged, because no compiler traces optimizer steps."""
    return x


def _get_scalar_dtype(is_fused: bool | None = None) -> Any:
    """Return the dtype of step counters."""
    if is_fused:
        return ts.float32
    return ts.float64 if ts.get_default_dtype() == ts.float64 else ts.float32


def _to_scalar(x: Any) -> Any:
    """Return a tensor with one element as a 0-dimensional tensor, and any other value unchanged."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() != 0 else x


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Replace complex tensors in the given lists by views of their real and imaginary parts."""
    for i, p in enumerate(params):
        if p.is_complex():
            params[i] = ts.view_as_real(p)
            for tensors in state_and_grads:
                tensors[i] = ts.view_as_real(tensors[i])


def _use_grad_for_differentiable(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `step` method that records gradients if the option `differentiable` is True."""

    @functools.wraps(step)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        with ts.set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *args, **kwargs)

    return run


class _Required:
    """Default value that marks an option which every group must set."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """Base class of optimizers. A subclass implements `update`, which changes one parameter."""

    takes_sparse_gradients: ClassVar[bool] = False  # False: a sparse gradient raises RuntimeError
    sparse_error_text: ClassVar[str] = ""  # error text, or "" for a default text with the class name

    state: defaultdict[Tensor, dict[str, Any]]
    param_groups: list[Group]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {_type_name(params)}"
            )
        self.defaults = defaults
        self._prepare()
        self._patch_step_function()
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _patch_step_function(self) -> None:
        """Wrap `step` of this class so that it calls hooks.

        Called when an optimizer of the class is created.
        """
        cls = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = self.profile_hook_step(cls.step)  # type: ignore[method-assign]

    def _prepare(self) -> None:
        """Create empty tables of hooks. Unpickled and copied optimizers also start without hooks."""
        self._optimizer_step_pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._optimizer_step_post_hooks: OrderedDict[int, Any] = OrderedDict()
        self._optimizer_state_dict_pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._optimizer_state_dict_post_hooks: OrderedDict[int, Any] = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._optimizer_load_state_dict_post_hooks: OrderedDict[int, Any] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._prepare()
        self._patch_step_function()
        for group in self.param_groups:  # pickles of older versions lack newer options
            for name, value in self.defaults.items():
                group.setdefault(name, value)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"]
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([lines[0], *lines[2:], ")"]) if self.param_groups else "\n".join([*lines, ")"])

    # ---- groups

    def add_param_group(self, param_group: Group) -> None:
        """Add a parameter group. Options that are missing in it get their default values."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group_params = param_group["params"]
        if isinstance(group_params, Tensor):
            group_params = [group_params]
        elif isinstance(group_params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of "
                "tensors "
                "in sets will change between runs. Please use a list instead."
            )
        params = param_group["params"] = list(group_params)
        self._move_names_to_group(param_group)
        params = param_group["params"]
        for x in params:
            if not isinstance(x, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {_type_name(x)}"
                )
            if not (x.is_leaf or x.retains_grad or self.defaults.get("differentiable")):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            if value is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, value)
        if len({id(x) for x in params}) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause "
                "an error; see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        before = {id(x) for group in self.param_groups for x in group["params"]}
        if not before.isdisjoint(id(x) for x in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _move_names_to_group(self, group: Group) -> None:
        """Split (name, tensor) pairs in `params` of the group into `params` and `param_names`."""
        params = group["params"]
        is_named = [isinstance(x, tuple) for x in params]
        if any(is_named):
            if not all(is_named):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are missing"
                )
            group["param_names"] = [name for name, _ in params]
            group["params"] = [x for _, x in params]
        if self.param_groups and ("param_names" in self.param_groups[0]) != ("param_names" in group):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if 'param_names' in group else 'without'} names to the optimizer"
            )

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear parameter gradients: set each gradient to None, or to zeros."""
        for group in self.param_groups:
            for x in group["params"]:
                if x.grad is None:
                    continue
                if set_to_none:
                    x.grad = None
                else:
                    x.grad.detach_() if x.grad.grad_fn is not None else x.grad.requires_grad_(False)
                    x.grad.zero_()

    # ---- step

    def step(self, closure: Closure | None = None) -> Any:
        """Update all parameters that have gradients, and return the loss of `closure`, if given."""
        if type(self).update is Optimizer.update and type(self).update_all is Optimizer.update_all:
            raise NotImplementedError
        loss = None
        if closure is not None:
            with ts.enable_grad():
                loss = closure()
        with ts.set_grad_enabled(bool(self.defaults.get("differentiable"))):
            for group in self.param_groups:
                params = [x for x in group["params"] if x.grad is not None]
                if params:
                    grads = [x.grad for x in params]
                    if not self.takes_sparse_gradients:
                        self._require_dense(grads)
                    self.update_all(params, grads, [self.state[x] for x in params], group)
        return loss

    def _require_dense(self, grads: list[Tensor]) -> None:
        """Raise RuntimeError if a gradient is sparse."""
        if are_dense(grads):
            return
        rule = next(cls for cls in type(self).__mro__ if own_name(cls.__module__).startswith("ts.optim"))
        if rule is not Optimizer:  # `update` of the user's class may accept sparse gradients
            raise RuntimeError(self.sparse_error_text or f"{rule.__name__} does not support sparse gradients")

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[dict[str, Any]], group: Group
    ) -> None:
        """Update all parameters of a group that have gradients. By default, call `update` for each."""
        for x, grad, state in zip(params, grads, states, strict=True):
            grad = -grad if group.get("maximize") else grad
            update_parameter = self._update_complex if x.is_complex() else self.update
            update_parameter(x, grad, state, group)

    def _scaler(self) -> dict[str, Any]:
        """Return the attributes that a gradient scaler set for this step (`grad_scale`, `found_inf`)."""
        scaler_state = {name: getattr(self, name, None) for name in ("grad_scale", "found_inf")}
        return {name: value for name, value in scaler_state.items() if value is not None}

    def _update_complex(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        """Call `update` with real views of a complex parameter, its gradient and its state."""
        real = {name: ts.view_as_real(v) if v.is_complex() else v for name, v in state.items()}
        self.update(ts.view_as_real(x), ts.view_as_real(grad), real, group)
        for name, value in real.items():
            state[name] = ts.view_as_complex(value) if value.dim() > x.dim() else value

    def update(self, x: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        """Update one parameter. `state` is the optimizer state of this parameter."""
        raise NotImplementedError

    # ---- state

    def state_dict(self) -> dict[str, Any]:
        """Return the parameter states, and the groups with their options. Indices replace the parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        param_indices: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for x in group["params"]:
                param_indices.setdefault(id(x), len(param_indices))
            packed = {name: value for name, value in group.items() if name != "params"}
            groups.append({**packed, "params": [param_indices[id(x)] for x in group["params"]]})
        nonempty = ((x, value) for x, value in self.state.items() if value)
        state = {param_indices[id(x)] if isinstance(x, Tensor) else x: value for x, value in nonempty}
        result: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            result = _result_or_default(hook(self, result), result)
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state of an optimizer whose parameters have the same number and order."""
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            state_dict = _result_or_default(hook(self, state_dict), state_dict)
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        pairs = list(zip(self.param_groups, saved, strict=True))
        if any(len(group["params"]) != len(other["params"]) for group, other in pairs):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                "group"
            )
        params_by_index = {
            index: x
            for group, other in pairs
            for index, x in zip(other["params"], group["params"], strict=True)
        }
        state: defaultdict[Any, Any] = defaultdict(dict)
        for index, value in state_dict["state"].items():
            x = params_by_index.get(index)
            state[index if x is None else x] = value if x is None else _convert_saved_value(value, x)
        for group, other in pairs:
            other["params"] = group["params"]
            if "param_names" in group:
                other.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # ---- hooks

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """Return a step method that runs the hooks of the optimizer before and after `func`."""

        @functools.wraps(func)
        def step(*args: Any, **kwargs: Any) -> Any:
            self = args[0]
            for hook in (*_global_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
                result = hook(self, args, kwargs)
                if result is None:
                    continue
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                args, kwargs = result
            output = func(*args, **kwargs)
            for hook in (*self._optimizer_step_post_hooks.values(), *_global_post_hooks.values()):
                hook(self, args, kwargs)
            return output

        step.hooked = True  # type: ignore[attr-defined]
        return step

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Register a hook that is called as `hook(optimizer, args, kwargs)` before each step.

        A result that is not None replaces `args` and `kwargs`. The first element of `args` is the optimizer.
        """
        return add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Register a hook that is called as `hook(optimizer, args, kwargs)` after each step."""
        return add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Register a hook that is called as `hook(optimizer)` before `state_dict`."""
        return add_hook(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer, state_dict)`, called after `state_dict`.

        A result that is not None replaces the returned dict.
        """
        return add_hook(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer, state_dict)`, called before a state is loaded.

        A result that is not None replaces the loaded dict.
        """
        return add_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Register a hook that is called as `hook(optimizer)` after a state was loaded."""
        return add_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend)


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Replace the parameters and the state of an optimizer during a `with` block.

    Element k of `swapin_parameters` replaces parameter k. `swapin_optim_state` has the format of
    `state_dict`. The block may change the tensors in `swapin_optim_state` in place. All other changes of the
    state are lost after the block.
    """
    before = dict(optimizer.__dict__)
    params = iter(swapin_parameters.values())
    groups: list[Group] = []
    state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
    for group, saved_group in zip(optimizer.param_groups, swapin_optim_state["param_groups"], strict=True):
        group_params = [next(params) for _ in group["params"]]
        groups.append({**group, **saved_group, "params": group_params})
        for index, x in zip(saved_group["params"], group_params, strict=True):
            if index in swapin_optim_state["state"]:
                state[x] = dict(swapin_optim_state["state"][index])
    try:
        optimizer.param_groups, optimizer.state = groups, state
        yield
    finally:
        optimizer.param_groups, optimizer.state = before["param_groups"], before["state"]


_global_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_post_hooks: OrderedDict[int, Any] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register `hook(optimizer, args, kwargs)` for all optimizers, called first in each step."""
    return add_hook(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register `hook(optimizer, args, kwargs)` for all optimizers, called last in each step."""
    return add_hook(_global_post_hooks, hook)


def _result_or_default(replacement: Any, before: Any) -> Any:
    return before if replacement is None else replacement


def _convert_saved_value(value: Any, x: Tensor, name: str = "") -> Any:
    """Convert a saved value to the dtype and device of parameter `x`. Step counts are returned unchanged."""
    if isinstance(value, Tensor):
        if name == "step":
            return value
        return (
            value.to(dtype=x.dtype, device=x.device) if x.is_floating_point() else value.to(device=x.device)
        )
    if isinstance(value, dict):
        return {key: _convert_saved_value(item, x, key) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_convert_saved_value(item, x) for item in value)
    return value


def _type_name(x: Any) -> str:
    return str(ts.typename(x))
