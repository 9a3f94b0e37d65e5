"""Batched tensors of `vmap`, for which each operator runs on all examples of the batch at once.

Input: an operator with batched arguments at a level. Output: its batched results.

A batched tensor has the shape of one example. Its inner tensor has the batch dimension in front. Operators
use the batching rules in `ts.ops.vmap_rules`, and composite operators need none. Examples:

    Tensor (3,) -> Batched -> inner (5, 3)      five examples of three elements
    Tensor (3,) -> Batched -> inner (3,)        one tensor that all examples share (`has_batch_dim` is False)
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

from ts._core.dispatch_layers import dispatch_modes
from ts._core.dispatch_layers.layer import Layer
from ts._core.dispatch_layers.level_stack import (
    Level,
    below_level,
    call_decomposition,
    depth,
    layered,
    of_level,
    open_levels,
    push_level,
)
from ts._core.late_binding import resolve
from ts._core.tensor.python_operators import operator
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import has_hidden_elements, hide_elements, set_layer
from ts._core.thread.context import is_grad_enabled

CANNOT_DETACH_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
    "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
    "detach_() cannot be called on these gradients. To fix this error, please refer to the "
    "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
)


class Batched(Layer):
    """Layer of a batched tensor, or of a tensor shared by all examples of a batch."""

    def __init__(self, level: int, inner: Tensor, has_batch_dim: bool) -> None:
        super().__init__(level, inner)
        self.has_batch_dim = has_batch_dim
        self.implementation = "BatchedTensorImpl"
        self.hides_elements = has_batch_dim or has_hidden_elements(inner)

    def describe(self) -> str:
        """Return the `repr` of a batched tensor, or "" for an unbatched tensor."""
        if not self.has_batch_dim:
            return ""
        inner = textwrap.indent(repr(self.inner), "    ")
        return f"BatchedTensor(lvl={depth(self.level)}, bdim=0, value=\n{inner}\n)"

    def check_elements(self) -> None:
        """Raise RuntimeError for a tensor with a batch: `item()` would return one number per example."""
        if self.has_batch_dim:
            raise RuntimeError(
                "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
                ".item() on a Tensor, please try to rewrite what you're doing with other operations. If "
                "error is occurring somewhere inside PyTorch internals, please file a bug report."
            )

    def check_copy_to_host(self) -> None:
        """Raise RuntimeError for a batched tensor: it has no storage that could be copied to the host."""
        self.check_memory()

    def check_detach_in_place(self) -> None:
        """Raise RuntimeError for a batched tensor, a view of the batch, which cannot be detached in place."""
        if self.has_batch_dim:
            raise RuntimeError(CANNOT_DETACH_VIEW)

    def check_condition(self) -> None:
        """Raise RuntimeError for a condition with a batch: each example would have its own truth value."""
        if self.has_batch_dim:
            raise RuntimeError(
                "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. "
                "We don't support that yet, please file an issue at "
                "https://github.com/pytorch/pytorch/issues ."
            )

    def check_open(self) -> None:
        """Raise RuntimeError for a batched tensor that is used outside of `vmap`."""
        if self.has_batch_dim:
            raise RuntimeError(
                "Either your tensor may have escaped from inside a function being vmapped and this is a user "
                "error (see https://pytorch.org/functorch/stable/ux_limitations.html), or there is an "
                "internal functorch error in `gen_vmap_plumbing` Please file an issue if it looks like the "
                "latter"
            )

    def check_memory(self) -> None:
        """Raise RuntimeError for a batched tensor, which has no storage."""
        if self.has_batch_dim:
            super().check_memory()

    def check_data(self) -> None:
        """Raise RuntimeError for a batched tensor, which has no attribute `data`."""
        if self.has_batch_dim:
            raise RuntimeError("accessing `data` under vmap transform is not allowed")


def the_same(level: Level, x: Tensor) -> Batched:
    """Return a layer for a tensor `x` without a batch dimension.

    All examples of the batch share this tensor.
    """
    return Batched(level.level_id, x, False)


def one_of(inner: Tensor) -> Tensor:
    """Return the first example of the batch `inner`.

    If the batch is empty, return an uninitialized tensor.

    The tensor has the shape of an example.
    """
    with dispatch_modes.without_all() if dispatch_modes.is_active() else nullcontext():
        element: Tensor = inner.select(0, 0) if inner.shape[0] else inner.new_empty(inner.shape[1:])
    return element


def batched(level: Level, inner: Tensor, viewed: Tensor | None = None) -> Tensor:
    """Return a batched tensor whose examples are the slices of `inner` along its first dimension."""
    return layered(inner, Batched(level.level_id, inner, True), viewed, of_batch=True)


def unwrap_batched(level: Level, x: Any) -> tuple[Any, bool]:
    """Return the inner tensor of `x` at the level, and whether its first dimension is the batch dimension."""
    layer = of_level(x, level)
    return (x, False) if layer is None else (layer.inner, layer.has_batch_dim)  # type: ignore[attr-defined]


class Unbatched:
    """Result without a batch dimension, returned by a batching rule."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Call:
    """Operator call on a batch, the argument of batching rules.

    values       the arguments, with batched tensors replaced by their inner tensors
    batch_flags  for each argument, True if its first dimension is the batch dimension. For a list: a
                 list of flags.
    """

    def __init__(self, level: Level, op: Any, args: list[Any]) -> None:
        self.level = level
        pairs = [[self.unwrap(y) for y in x] if isinstance(x, list) else self.unwrap(x) for x in args]
        self.size = level.size
        self.operator = op
        self.record = op.record.functional
        self.names = [p.name for p in self.record.operator.signature.parameters]
        self.values: list[Any] = [[v for v, _ in x] if isinstance(x, list) else x[0] for x in pairs]
        self.batch_flags: list[Any] = [[w for _, w in x] if isinstance(x, list) else x[1] for x in pairs]

    def __getitem__(self, name: str) -> Any:
        """Return the argument for the parameter `name`."""
        return self.values[self.names.index(name)]

    def at(self, name: str) -> int:
        """Return the index of the parameter `name`, or -1 if the operator has no such parameter."""
        return self.names.index(name) if name in self.names else -1

    def is_batched(self, x: Any) -> bool:
        """Return whether argument `x` (a number or name) is a batched tensor or contains a batched tensor."""
        flag = self.batch_flags[x if isinstance(x, int) else self.names.index(x)]
        return any(flag) if isinstance(flag, list) else bool(flag)

    def rank(self, i: int) -> int:
        """Return the rank of tensor argument `i` without its batch dimension."""
        return int(self.values[i].dim()) - int(self.batch_flags[i])

    def expanded(self, i: int) -> Any:
        """Return argument `i` with a leading batch dimension. An unbatched tensor is expanded."""
        x, is_batched = self.values[i], self.batch_flags[i]
        if isinstance(x, list):
            return [self.spread(y, w) for y, w in zip(x, is_batched, strict=True)]
        return self.spread(x, is_batched)

    def spread(self, x: Any, is_batched: bool) -> Any:
        """Return `x` with a leading batch dimension.

        If `x` is not batched, it is expanded along this dimension.
        """
        if is_batched or not isinstance(x, Tensor):
            return x
        return x.unsqueeze(0).expand([self.size, *x.shape])

    def unwrap(self, x: Any) -> tuple[Any, bool]:
        """Return the inner tensor of an argument, and whether its first dimension is the batch dimension."""
        return unwrap_batched(self.level, x)

    def run(self, values: list[Any]) -> Any:
        """Run the functional variant of the operator on the arguments `values`."""
        return self.record.operator.call_list(values)

    def run_as_called(self, values: list[Any]) -> Any:
        """Run the called variant of the operator on the arguments `values`.

        This may be the in-place variant.
        """
        return self.operator.call_list(values)


def run(level: Level, op: Any, args: list[Any]) -> Any:
    """Run an operator on tensors that are batched at the level."""
    rules = resolve("batching_rules")
    record = op.record
    decomposition = rules.composite(record)
    if decomposition is not None:
        if record.nondeterministic and level.random == "different":
            args = _batch_random_arguments(level, op, args)
        return call_decomposition(decomposition, args)
    call = Call(level, op, args)
    some = any(call.is_batched(i) for i in range(len(args)))
    returns = op.signature.returns
    if record.variant == "out":
        raise RuntimeError(
            f"Batching rule not implemented for {record.name}.{record.overload}; the fallback path doesn't "
            "work on out= or view ops."
        )
    with below_level(level):
        if record.nondeterministic:
            result, of_batch = rules.run_random(call)
        elif not some:
            result, of_batch = call.run_as_called(call.values), False
        elif record.variant == "inplace" or rules.writes_first_argument(record):
            return _in_place(call, args)
        else:
            result = rules.run_batched(call)
            result, of_batch = (result.value, False) if isinstance(result, Unbatched) else (result, True)
    if isinstance(result, Tensor) and returns and returns[0].alias_of >= 0:
        return args[returns[0].alias_of]
    viewed = args[returns[0].view_of] if len(returns) == 1 and returns[0].view_of >= 0 else None
    return _wrapped(level, result, of_batch, viewed)


def _batch_random_arguments(level: Level, op: Any, args: list[Any]) -> list[Any]:
    """Return the arguments of a random operator that draws different numbers for each example.

    If no tensor is batched, all tensors are expanded to the batch size. Raise RuntimeError for an in-place
    operator on an unbatched tensor.
    """
    rules = resolve("batching_rules")
    if not rules.draws(op.record, args) or any(unwrap_batched(level, x)[1] for x in args):
        return args
    if op.record.variant == "inplace":
        raise RuntimeError(rules.unbatched_write_message(Call(level, op, args)))
    result = []
    for x in args:
        if isinstance(x, Tensor):
            with below_level(level):
                x = batched(level, x.expand([level.size, *x.shape]))
        result.append(x)
    return result


def _wrapped(level: Level, result: Any, of_batch: bool, viewed: Tensor | None) -> Any:
    """Wrap result tensors in layers of the level. Unless `viewed` is None, they become views of `viewed`.

    If `of_batch`, the first dimension of each tensor is the batch dimension.
    """
    if isinstance(result, (tuple, list)):
        values = [_wrapped(level, x, of_batch, viewed) for x in result]
        return values if type(result) is list else type(result)(values)
    if not isinstance(result, Tensor):
        return result
    with below_level(level):
        if of_batch:
            return batched(level, result, viewed)
    return layered(result, the_same(level, result), viewed)


def _in_place(call: Call, args: list[Any]) -> Any:
    """Run an in-place operator: write the functional variant's result to the target, and return the target.

    The target is the first argument. Raise RuntimeError if it is not batched.
    """
    rules = resolve("batching_rules")
    target = args[0]
    if not call.batch_flags[0]:
        raise RuntimeError(rules.unbatched_write_message(call))
    layer = of_level(target, call.level)
    assert layer is not None
    if is_grad_enabled() and not call.operator.record.reshapes:
        # The operand is a copy of the inner tensor. A backward node may save the operand, and `copy_` below
        # changes the inner tensor.
        call.values[0] = operator("clone")(layer.inner)
    result = rules.run_batched(call)
    # An operator such as `t_` changes shape and strides of the target, so the target needs a new layer.
    if call.operator.record.reshapes:
        hide_elements(target, result, True)
        set_layer(target, Batched(call.level.level_id, result, True))
    elif result is not layer.inner:
        operator("copy_")(layer.inner, result)
    return target


# ---------------------------------------------------------------- batching rules defined by programs


class VmapInfo(NamedTuple):
    """Arguments of `vmap`. A program can define a batching rule, which receives this object."""

    batch_size: int
    randomness: str


def level_of_batch(values: Sequence[Any]) -> Level | None:
    """Return the innermost open level for which a tensor in `values` has a layer with a batch.

    Return None if there is no such level. `values` may contain lists.
    """
    tensors = [y for x in values for y in (x if isinstance(x, list | tuple) else [x])]
    for level in reversed(open_levels()):
        if any(of_level(x, level) is not None for x in tensors):
            is_batched = level.run is run and any(unwrap_batched(level, x)[1] for x in tensors)
            return level if is_batched else None
    return None


def call_rule(level: Level, rule: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Call rule(info, in_dims, *args) on whole batches, and return its outputs as batched tensors.

    The rule returns (output, out_dims). Raise RuntimeError if `output` and `out_dims` have different
    structures.
    """
    pairs = [
        [unwrap_batched(level, y) for y in x] if isinstance(x, list | tuple) else unwrap_batched(level, x)
        for x in args
    ]
    inner_args = [[v for v, _ in x] if isinstance(x, list) else x[0] for x in pairs]
    in_dims = tuple(
        [0 if w else None for _, w in x] if isinstance(x, list) else 0 if x[1] else None for x in pairs
    )
    with below_level(level):
        output, out_dims = rule(VmapInfo(level.size, level.random), in_dims, *inner_args)
    is_tuple = isinstance(output, tuple | list)
    outputs = list(output) if is_tuple else [output]
    dims = list(out_dims) if isinstance(out_dims, tuple | list) else [out_dims] * len(outputs)
    if len(dims) != len(outputs) or (isinstance(out_dims, tuple | list) and not is_tuple):
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
            f"Expected out_dims={out_dims} to be compatible with the structure of `output`. out_dims has "
            f"structure {_structure(out_dims)} but output has structure {_structure(output)}. For more "
            "details, please see https://pytorch.org/docs/main/notes/extending.func.html"
        )
    wrapped = []
    for x, dim in zip(outputs, dims, strict=True):
        if isinstance(x, Tensor) and dim is not None:
            with below_level(level):
                x = x.movedim(dim, 0)  # type: ignore[attr-defined]
        wrapped.append(_wrapped(level, x, dim is not None, None))
    return type(output)(wrapped) if is_tuple else wrapped[0]


def _structure(x: Any) -> str:
    """Return PyTorch's text for the structure of a value ("*"), or of a tuple or list of values."""
    if not isinstance(x, tuple | list):
        return "*"
    return f"TreeSpec({type(x).__name__}, None, [{(',' + chr(10) + '  ').join('*' * len(x))}])"


# ---------------------------------------------------------------- opening a level


@contextmanager
def opened_batch(size: int, random: str = "error") -> Iterator[Level]:
    """Open a `vmap` level for batches of `size` examples."""
    with push_level(run, the_same) as level:
        level.size, level.random = size, random
        yield level


def unbatched(level: Level, x: Tensor, dim: int = 0) -> Tensor:
    """Return the inner tensor of `x` with the batch dimension at `dim`. An unbatched tensor is expanded."""
    inner, is_batched = unwrap_batched(level, x)
    with below_level(level):
        result: Tensor = inner if is_batched else inner.expand([level.size, *inner.shape])
        return result if dim == 0 else result.movedim(0, dim)
