"""Helpers of optimizers (option checks, state initialization, complex parameters, step counts).

For example, `init_states(params, states, "exp_avg")` sets the step count and "exp_avg" of each empty state to
zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import ts
from ts._core.tensor.subclasses import is_dispatched
from ts._core.tensor.tensor import Tensor
from ts.nn.parameter import Parameter

Tensors = Sequence[Tensor]
State = dict[str, Any]
_PLAIN_CLASSES: Final = frozenset((Tensor, Parameter))  # classes that do not override operators
_CAPTURABLE_DEVICES = ("cuda", "xpu", "hpu", "privateuseone")


def check_range(option_name: str, value: Any, is_valid: bool) -> None:
    """Raise ValueError that names the option and its value if `is_valid` is False."""
    if not is_valid:
        raise ValueError(f"Invalid {option_name}: {value}")


def check_rate(lr: Any, foreach: bool | None = False, capturable: bool = False) -> None:
    """Raise ValueError unless the learning rate is a non-negative number or one-element tensor."""
    if isinstance(lr, Tensor):
        if foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        if lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
    check_range("learning rate", lr, lr >= 0)


def check_adam_options(betas: tuple[Any, Any], eps: float, weight_decay: float) -> None:
    """Raise ValueError unless the options of an optimizer of the Adam family are in their ranges."""
    check_range("epsilon value", eps, eps >= 0)
    check_betas(betas)
    check_range("weight_decay value", weight_decay, weight_decay >= 0)


def check_betas(betas: tuple[Any, Any]) -> None:
    """Raise ValueError unless the decay rates of running averages are in [0, 1)."""
    for i, beta in enumerate(betas):
        check_range(f"beta parameter at index {i}", beta, 0 <= beta < 1)


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Raise RuntimeError if `fused` is combined with an incompatible option."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_capturable(
    capturable: bool,
    params: Tensors,
    foreach: bool | None,
    description: str = "params and state_steps",
    xla: bool = True,
) -> None:
    """Raise AssertionError if `capturable` is True and parameters are on a device without graph capture."""
    if not capturable or all(x.device.type in _CAPTURABLE_DEVICES for x in params):
        return
    supported_devices = [*_CAPTURABLE_DEVICES, *(["xla"] if xla and not foreach else [])]
    raise AssertionError(
        f"If capturable=True, {description} must be on supported devices: {supported_devices}."
    )


def zero_step() -> Tensor:
    """Return a step counter with value 0."""
    double = ts.get_default_dtype() == ts.float64
    step: Tensor = ts.tensor(0.0, dtype=ts.float64 if double else ts.float32)
    return step


def init_states(params: Tensors, states: Sequence[State], *names: str) -> list[tuple[Tensor, State]]:
    """Initialize each empty state with a step counter, and with zeros like the parameter for each name.

    Return a list of (parameter, state) for the states that were empty.
    """
    new = [(x, state) for x, state in zip(params, states, strict=True) if not state]
    for x, state in new:
        state["step"] = zero_step()
        state.update((name, ts.zeros_like(x)) for name in names)
    return new


def state_tensors(states: Sequence[State], *names: str) -> list[list[Tensor]]:
    """Return the tensors of the optimizer states: a list for each name, with a tensor for each parameter."""
    return [[state[name] for state in states] for name in names]


@cache
def _option_names(step: Callable[..., None]) -> tuple[str, ...]:
    """Return the option names of a functional step: its arguments after the lists of tensors."""
    code: Any = step.__code__  # type: ignore[attr-defined]
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return tuple(arguments[code.co_argcount - len(step.__defaults__ or ()) :])  # type: ignore[attr-defined]


def run_step(
    step: Callable[..., None], group: dict[str, Any], *tensor_lists: Sequence[Any], **computed_options: Any
) -> None:
    """Call `step`, the functional form of an optimizer, with the options of a parameter group.

    `computed_options` contains further keyword arguments of `step`. The option `betas` is passed as `beta1`
    and `beta2`.
    """
    if "betas" in group:
        computed_options["beta1"], computed_options["beta2"] = group["betas"]
    for name in _option_names(step):
        if name in group:
            computed_options[name] = group[name]
    step(*tensor_lists, **computed_options)


def increment_steps(state_steps: Tensors) -> None:
    """Increment the step counters."""
    ts._foreach_add_(list(state_steps), 1)


def increment_and_read_steps(state_steps: Tensors) -> list[float]:
    """Increment the step counters and return their values as floats."""
    increment_steps(state_steps)
    return [step.item() for step in state_steps]


def view_complex_as_real(params: Tensors, *others: Tensors) -> list[list[Tensor]]:
    """Return the lists of parameters and states, with complex tensors replaced by real views."""
    tensor_lists = (params, *others)
    if not any(map(Tensor.is_complex, params)):
        return [list(tensors) for tensors in tensor_lists]
    return [[ts.view_as_real(x) if x.is_complex() else x for x in tensors] for tensors in tensor_lists]


def scaler_options(grad_scale: Tensor | None, found_inf: Tensor | None) -> dict[str, Tensor | None]:
    """Return the options of a fused step that a gradient scaler sets, if any."""
    if grad_scale is None and found_inf is None:
        return {}
    return {"grad_scale": grad_scale, "found_inf": found_inf}


def scalar_option(x: Any) -> Any:
    """Convert option `x` to a float if it is a tensor and gradients are not recorded, else return `x`."""
    return float(x) if isinstance(x, Tensor) and not ts.is_grad_enabled() else x


def run_fused_or_rule(
    fused: Callable[..., Any], rule: Callable[..., Any], *tensor_lists: Tensors, **options: Any
) -> None:
    """Run the fused step, or `rule` if gradients are recorded or a parameter's class overrides operators."""
    params = tensor_lists[0]
    has_subclasses = not _PLAIN_CLASSES.issuperset(map(type, params))
    if ts.is_grad_enabled() or (has_subclasses and any(is_dispatched(x) for x in params)):
        rule(*tensor_lists, **options)
    else:
        fused(*tensor_lists, **options)
