"""Optimizer steps over lists of parameters, by rules (SGD, Adam, Adagrad) and fused operators.

A rule computes a step by foreach operators, which change parameters and states in place. A fused operator
computes a step in one pass if the backend has a kernel for it. The argument `state_steps` contains the number
of steps, including the current step.

Example:

    ts._fused_sgd_(params, grads, momenta, weight_decay=0.0, momentum=0.9, lr=0.1, dampening=0.0,
                   nesterov=False, maximize=False, is_first_step=False)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from ts._core.dispatch.overloads import overloads
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import is_grad_enabled
from ts.ops import common
from ts.ops.operator_record import OperatorRecord
from ts.ops.registry import add

Tensors = Sequence[Tensor]
Number = Any  # a float, or a tensor without dimensions


@cache
def on_lists(name: str) -> Callable[..., Any]:
    """Return the foreach function `ts._foreach_{name}`."""
    function: Callable[..., Any] = overloads(f"_foreach_{name}")
    return function


def apply_to_temporaries(name: str, temporaries: Tensors, *args: Any) -> Tensors:
    """Apply a foreach operator to temporary tensors, and return the results.

    If no gradients are recorded, use the in-place variant, which overwrites the temporary tensors.
    """
    if is_grad_enabled():
        outputs: Tensors = on_lists(name)(temporaries, *args)
        return outputs
    on_lists(f"{name}_")(temporaries, *args)
    return temporaries


def number_in(x: Number) -> float:
    """Return a number or 0-dim tensor as a float. Return 1.0 for a meta tensor."""
    return 1.0 if isinstance(x, Tensor) and x.is_meta else float(x)


def negate_if_maximize(grads: Tensors, maximize: bool) -> Tensors:
    """Return `grads`, negated if the objective is maximized."""
    return on_lists("neg")(grads) if maximize else grads


def with_decay(params: Tensors, grads: Tensors, decay: float) -> Tensors:
    """Return the gradients with L2 weight decay added."""
    return on_lists("add")(grads, params, alpha=decay) if decay != 0 else grads


def decay_weights(params: Tensors, grads: Tensors, decay: float, lr: Number, decoupled: bool) -> Tensors:
    """Apply weight decay, and return the gradients to use for the step.

    If `decoupled`, multiply `params` by 1 - lr * decay, and return `grads`. Otherwise, return `grads` with L2
    weight decay.
    """
    if not decoupled:
        return with_decay(params, grads, decay)
    if decay != 0:
        on_lists("mul_")(params, 1 - lr * decay)
    return grads


def update_moments(
    exp_avgs: Tensors, exp_avg_sqs: Tensors, grads: Tensors, beta1: float, beta2: float
) -> None:
    """Update the running averages of gradients and squared gradients."""
    on_lists("lerp_")(exp_avgs, grads, 1 - beta1)
    on_lists("mul_")(exp_avg_sqs, beta2)
    on_lists("addcmul_")(exp_avg_sqs, grads, grads, 1 - beta2)


def add_quotients(params: Tensors, above: Tensors, below: Tensors, factors: Sequence[Number]) -> None:
    """Update params += factors * above / below. Factors that are tensors get gradients from autograd."""
    if any(isinstance(factor, Tensor) for factor in factors):
        above = [x * factor for x, factor in zip(above, factors, strict=True)]
        on_lists("addcdiv_")(params, above, below)
    else:
        on_lists("addcdiv_")(params, above, below, list(factors))


def add_scaled(params: Tensors, changes: Tensors, factor: Number) -> None:
    """Update params += factor * changes."""
    if isinstance(factor, Tensor):
        on_lists("add_")(params, [x * factor for x in changes])
    else:
        on_lists("add_")(params, changes, alpha=factor)


def sgd(
    params: Tensors,
    grads: Tensors,
    momenta: Tensors,
    *,
    weight_decay: float,
    momentum: float,
    lr: Number,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
) -> None:
    """Perform an SGD step. `momenta` are written only if the momentum is not zero."""
    grads = with_decay(params, negate_if_maximize(grads, maximize), weight_decay)
    if momentum != 0:
        if is_first_step:
            on_lists("copy_")(momenta, [grad.detach() for grad in grads])
        else:
            on_lists("mul_")(momenta, momentum)
            on_lists("add_")(momenta, grads, alpha=1 - dampening)
        grads = on_lists("add")(grads, momenta, alpha=momentum) if nesterov else momenta
    add_scaled(params, grads, -lr)


def adam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    *,
    lr: Number,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    maximize: bool,
    decoupled: bool = False,
) -> None:
    """Perform a step of Adam, or AdamW with `decoupled` weight decay, with bias correction."""
    grads = decay_weights(params, negate_if_maximize(grads, maximize), weight_decay, lr, decoupled)
    update_moments(exp_avgs, exp_avg_sqs, grads, beta1, beta2)
    squares = exp_avg_sqs
    if amsgrad:
        on_lists("maximum_")(max_exp_avg_sqs, exp_avg_sqs)
        squares = max_exp_avg_sqs
    steps = [number_in(step) for step in state_steps]
    roots = apply_to_temporaries(
        "div", on_lists("sqrt")(squares), [(1 - beta2**step) ** 0.5 for step in steps]
    )
    add_quotients(
        params, exp_avgs, apply_to_temporaries("add", roots, eps), [-lr / (1 - beta1**step) for step in steps]
    )


def adagrad(
    params: Tensors, grads: Tensors, state_sums: Tensors, state_steps: Tensors, *,
    lr: Number, lr_decay: float, weight_decay: float, eps: float, maximize: bool,
) -> None:  # fmt: skip
    """Update `params` and `state_sums` by a step of Adagrad."""
    grads = with_decay(params, negate_if_maximize(grads, maximize), weight_decay)
    on_lists("addcmul_")(state_sums, grads, grads, 1)
    roots = apply_to_temporaries("add", on_lists("sqrt")(state_sums), eps)
    add_quotients(
        params, grads, roots, [-lr / (1 + (number_in(step) - 1) * lr_decay) for step in state_steps]
    )


# ---------------------------------------------------------------------------------------- fused operators


def _scaled(grads: Tensors, scale: Tensor | None, found_inf: Tensor | None) -> bool:
    """Divide the gradients by `scale`, the scale of the GradScaler, and return True.

    If `found_inf` is not zero, return False, so that the caller skips the step.
    """
    if found_inf is not None and not found_inf.is_meta and float(found_inf) != 0:
        return False
    if scale is not None:
        on_lists("div_")(grads, number_in(scale))
    return True


def check_lists(kernel: str, params: Tensors, read: dict[str, Tensors], steps: Tensors | None = None) -> None:
    """Raise an error unless each list has one tensor for each parameter, with the dtype of the parameter.

    `read` maps the schema name of each input list to the list. The tensors in `steps` may have any dtype.
    Parameters must be floating-point.
    """
    for name, tensors in {**read, **({} if steps is None else {"state_steps": steps})}.items():
        if len(tensors) != len(params):
            raise RuntimeError(f"Expected {name}.size() == n_tensors to be true, but got false.")
    for at, param in enumerate(params):
        if not param.dtype.is_floating_point:
            common.raise_unsupported_dtype(kernel, param.dtype.numpy_dtype)
        for tensors in read.values():
            if tensors[at].dtype != param.dtype:
                raise RuntimeError(
                    f"expected scalar type {param.dtype.type_name} but found {tensors[at].dtype.type_name}"
                )


# name of a list of tensors -> name of the option that must be true or nonzero for the list to be used
_LIST_CONDITIONS = {"momentum_buffer_list": "momentum", "max_exp_avg_sqs": "amsgrad"}


def _fused_kernel(
    name: str, list_names: Sequence[str], option_names: Sequence[str], rule: Callable[..., None]
) -> Callable[..., None]:
    """Return the kernel of a fused operator.

    The kernel checks the lists of tensors, divides the gradients by the scale of GradScaler, and runs `rule`.
    """

    def kernel(*args: Any) -> None:
        count = len(list_names)
        lists = dict(zip(list_names, args[:count], strict=True))
        options = dict(zip(option_names, args[count:-2], strict=True))
        unused = {x for x, option in _LIST_CONDITIONS.items() if not options.get(option)}
        read = {x: lists[x] for x in list_names if x not in ("self", "state_steps", *unused)}
        check_lists(f"fused_{name}_kernel", lists["self"], read, lists.get("state_steps"))
        if _scaled(lists["grads"], *args[-2:]):
            rule(*lists.values(), **{**options, "lr": number_in(options["lr"])})

    return kernel


_SCALER = "Tensor? grad_scale=None, Tensor? found_inf=None"
_MOMENTS = "beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize"

# Rows: (name of the optimizer, names of the lists that the operator mutates, schema text of other lists,
# schema text of options before `lr`, schema text of options after `lr`, rule)
RULES: tuple[tuple[str, str, str, str, str, Callable[..., None]], ...] = (
    (
        "sgd", "self grads momentum_buffer_list", "", "float weight_decay, float momentum, ",
        "float dampening, bool nesterov, bool maximize, bool is_first_step", sgd,
    ),
    (
        "adam", "self grads exp_avgs exp_avg_sqs max_exp_avg_sqs", ", Tensor[] state_steps", "",
        f"float {_MOMENTS}", adam,
    ),
    (
        "adamw", "self grads exp_avgs exp_avg_sqs max_exp_avg_sqs", ", Tensor[] state_steps", "",
        f"float {_MOMENTS}", partial(adam, decoupled=True),
    ),
    (
        "adagrad", "self grads state_sums", ", Tensor(d!)[] state_steps", "",
        "float lr_decay, float weight_decay, float eps, bool maximize", adagrad,
    ),
)  # fmt: skip


def _declare(name: str, lists: str, rest: str, before: str, behind: str, rule: Callable[..., None]) -> None:
    """Declare the fused operators of a row of `RULES`.

    There is an in-place and a functional operator, each with an overload for a float and one for a tensor as
    learning rate.
    """
    names = lists.split()
    option_names = [option.split()[-1] for option in f"{before}float lr, {behind}".split(", ")]
    list_names = [*names, "state_steps"] if rest else names
    kernel = _fused_kernel(name.removesuffix("w"), list_names, option_names, rule)
    written = ", ".join(f"Tensor({mark}!)[] {x}" for mark, x in zip("abcde", names, strict=False))
    read = ", ".join(f"Tensor[] {x}" for x in names)
    plain = rest.replace("(d!)", "")
    for overload, rate in (("", "float lr"), (".tensor_lr", "Tensor lr")):
        options = f", *, {before}{rate}, {behind}, {_SCALER})"
        steps = plain if overload else rest
        in_place = add(
            OperatorRecord(
                f"aten::_fused_{name}_{overload}({written}{steps}{options} -> ()",
                kernel, "fused_optimizers", "f", tensor_kernel=True, side_effect=True,
            )
        )  # fmt: skip
        output_names = [*names, "state_steps"] if rest != plain and not overload else names
        results = ", ".join(f"Tensor[] {x}_out" for x in output_names)
        add(
            OperatorRecord(
                f"aten::_fused_{name}{overload}({read}{plain}{options} -> ({results})",
                _on_copies(in_place, len(output_names)), "fused_optimizers", "", tensor_kernel=True,
            )
        )  # fmt: skip


def _on_copies(in_place: OperatorRecord, count: int) -> Callable[..., tuple[Sequence[Tensor], ...]]:
    """Return the kernel of the functional variant of `in_place`.

    The kernel copies the tensors of the first `count` lists, calls `in_place` on the copies, and returns
    them.
    """

    def run(*args: Any) -> tuple[Sequence[Tensor], ...]:
        copies = tuple([x.clone() for x in tensors] for tensors in args[:count])
        in_place.operator.call_list([*copies, *args[count:]])
        return copies

    return run


for _row in RULES:
    _declare(*_row)
