"""RAdam (rectified Adam), which ignores the second moment in the first steps.

In these steps, the variance of the second moment is too large.

`RAdam(model.parameters(), lr=1e-3).step()` updates the parameters of a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops.fused_optimizers import apply_to_temporaries, decay_weights, negate_if_maximize, update_moments
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import (
    State,
    Tensors,
    check_adam_options,
    check_capturable,
    check_rate,
    increment_and_read_steps,
    init_states,
    run_step,
    scalar_option,
    state_tensors,
    view_complex_as_real,
)

__all__ = ["RAdam", "radam"]
MIN_RECTIFIED_LENGTH = 5.0  # minimum length of the moving average for rectification


class RAdam(Optimizer):
    """RAdam optimizer: Adam with a rectified second moment.

    Steps ignore the second moment while its variance is too large.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_adam_options(betas, eps, weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        init_states(params, states, "exp_avg", "exp_avg_sq")
        run_step(radam, group, params, grads, *state_tensors(states, "exp_avg", "exp_avg_sq", "step"))


def radam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    eps: float,
) -> None:
    """Run one RAdam step and increment `state_steps`."""
    check_capturable(capturable, params, foreach)
    steps, lr = increment_and_read_steps(state_steps), scalar_option(lr)
    params, grads, exp_avgs, exp_avg_sqs = view_complex_as_real(params, grads, exp_avgs, exp_avg_sqs)
    changes = negate_if_maximize(grads, maximize)
    changes = decay_weights(params, changes, weight_decay, lr, decoupled_weight_decay)
    update_moments(exp_avgs, exp_avg_sqs, changes, beta1, beta2)
    means: Sequence[Tensor] = ts._foreach_div(exp_avgs, [1 - beta1**step for step in steps])
    means = [x * lr for x in means] if isinstance(lr, Tensor) else ts._foreach_mul(means, lr)
    limit = 2 / (1 - beta2) - 1
    sma_lengths = [limit - 2 * step * beta2**step / (1 - beta2**step) for step in steps]
    for is_rectified in (False, True):
        indices = [
            i for i, length in enumerate(sma_lengths) if (length > MIN_RECTIFIED_LENGTH) is is_rectified
        ]
        if not indices:
            continue
        updates = [means[i] for i in indices]
        if is_rectified:
            squares = [exp_avg_sqs[i] for i in indices]
            updates = _rectified_updates(
                updates,
                squares,
                [sma_lengths[i] for i in indices],
                limit,
                [steps[i] for i in indices],
                beta2,
                eps,
            )
        ts._foreach_add_([params[i] for i in indices], updates, alpha=-1)


def _rectified_updates(
    means: Tensors,
    squares: Tensors,
    sma_lengths: list[float],
    limit: float,
    steps: list[float],
    beta2: float,
    eps: float,
) -> list[Tensor]:
    """Return the updates by the rectified second moment, for parameters with a small enough variance."""
    roots = apply_to_temporaries("reciprocal", apply_to_temporaries("add", ts._foreach_sqrt(squares), eps))
    roots = apply_to_temporaries("mul", roots, [(1 - beta2**step) ** 0.5 for step in steps])
    trust = [((n - 4) * (n - 2) * limit / ((limit - 4) * (limit - 2) * n)) ** 0.5 for n in sma_lengths]
    changes: list[Tensor] = list(
        apply_to_temporaries("mul", apply_to_temporaries("mul", means, roots), trust)
    )
    return changes
