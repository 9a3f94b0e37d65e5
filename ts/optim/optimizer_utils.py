"""What the rules of optimizers share: checks of options, memories that begin, complex parameters, counts.

begin(state, x, "exp_avg", "exp_avg_sq")         {"step": tensor(0.), "exp_avg": zeros, "exp_avg_sq": zeros}
steps = counted(state_steps)                     one more each; as floats
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ts
from ts._core.tensor.subclasses import is_dispatched
from ts._core.tensor.tensor import Tensor

Tensors = Sequence[Tensor]
State = dict[str, Any]
_CAPTURED = ("cuda", "xpu", "hpu", "privateuseone")


def check_range(what: str, value: Any, holds: bool) -> None:
    """Refuse an option that is out of its range."""
    if not holds:
        raise ValueError(f"Invalid {what}: {value}")


def check_rate(lr: Any, foreach: bool | None = False, capturable: bool = False) -> None:
    """Refuse a rate that is no number of at least 0, nor a tensor that is one."""
    if isinstance(lr, Tensor):
        if foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        if lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
    check_range("learning rate", lr, lr >= 0)


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Refuse what cannot be had together."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_capturable(
    capturable: bool,
    params: Tensors,
    foreach: bool | None,
    what: str = "params and state_steps",
    xla: bool = True,
) -> None:
    """Refuse to be captured where no device captures."""
    if not capturable or all(x.device.type in _CAPTURED for x in params):
        return
    known = [*_CAPTURED, *(["xla"] if xla and not foreach else [])]
    raise AssertionError(f"If capturable=True, {what} must be on supported devices: {known}.")


def zero_step() -> Tensor:
    """The count of steps before the first one."""
    double = ts.get_default_dtype() == ts.float64
    count: Tensor = ts.tensor(0.0, dtype=ts.float64 if double else ts.float32)
    return count


def begin(state: State, x: Tensor, *names: str) -> None:
    """Before the first step of `x`, its count and its memory: zeros like it."""
    if not state:
        state["step"] = zero_step()
        state.update((name, ts.zeros_like(x)) for name in names)


def of(states: Sequence[State], name: str) -> list[Tensor]:
    """What all states remember under a name."""
    return [state[name] for state in states]


def count(state_steps: Tensors) -> None:
    """This is one step more."""
    ts._foreach_add_(list(state_steps), 1)


def counted(state_steps: Tensors) -> list[float]:
    """The numbers of this step, which is counted."""
    count(state_steps)
    return [step.item() for step in state_steps]


def real(params: Tensors, *others: Tensors) -> list[list[Tensor]]:
    """Parameters and what belongs to them, complex ones as pairs of real numbers."""
    lists = (params, *others)
    if not any(x.is_complex() for x in params):
        return [list(several) for several in lists]
    return [[ts.view_as_real(x) if x.is_complex() else x for x in several] for several in lists]


def scaler_options(grad_scale: Tensor | None, found_inf: Tensor | None) -> dict[str, Tensor | None]:
    """What a fused step is told of a scaler of gradients, if there is one."""
    if grad_scale is None and found_inf is None:
        return {}
    return {"grad_scale": grad_scale, "found_inf": found_inf}


def number(x: Any) -> Any:
    """A number of an option that may be a tensor; where gradients are wanted, it stays one."""
    return float(x) if isinstance(x, Tensor) and not ts.is_grad_enabled() else x


def run(fused: Callable[..., Any], rule: Callable[..., Any], *lists: Tensors, **options: Any) -> None:
    """Run a step in one pass, or by the rule if gradients may pass through it or classes have handlers."""
    if ts.is_grad_enabled() or any(is_dispatched(x) for x in lists[0]):
        rule(*lists, **options)
    else:
        fused(*lists, **options)
