"""Activation checkpointing (gradient checkpointing, rematerialization): backward recomputes tensors.

Instead of tensors that `block` saves for backward, this call saves placeholders:

    y = checkpoint(block, x, use_reentrant=False)

In backward, the first use of a placeholder recomputes all tensors. With `use_reentrant=True`, the block is
one backward node with an inner backward pass. Such a node fails within `ts.autograd.grad`.

The recomputation uses the autocast state of the forward run. It also uses the random state of the forward
run, unless `preserve_rng_state=False`.
"""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ts import nn, random
from ts._core.autograd.backward import backward
from ts._core.autograd.engine import current_task_id, reaches_all_leaves
from ts._core.autograd.saved import SavedTensor, save
from ts._core.dispatch.autocast import RestoreAutocastState
from ts._core.dispatch.op_log import OperatorLog
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import is_grad_enabled
from ts.autograd.function import Function
from ts.autograd.grad_mode import enable_grad
from ts.autograd.graph import saved_tensors_hooks
from ts.cuda import random as random_of_cuda
from ts.utils.selective_checkpoint import (
    SAC_IGNORED_OPS as SAC_IGNORED_OPS,
)
from ts.utils.selective_checkpoint import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "SelectiveCheckpointContext",
    "check_backward_validity", "checkpoint", "checkpoint_sequential", "create_selective_checkpoint_contexts",
    "detach_variable", "get_device_states", "noop_context_fn", "set_checkpoint_early_stop",
    "set_device_states",
]  # fmt: skip

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]
_early_stop: bool | None = None  # argument of the active `set_checkpoint_early_stop` block, if any


class CheckpointError(RuntimeError):
    """Raised if the recomputation does not save the same tensors as the forward run."""


def noop_context_fn() -> Contexts:
    """Return two contexts that do nothing, for the forward run and the recomputation."""
    return nullcontext(), nullcontext()


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Context manager in which `enable` replaces the argument `early_stop` of all `checkpoint` calls."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Return function(*args, **kwargs).

    No tensors are saved for backward. Instead, backward runs `function` again.

        context_fn          function that returns contexts for the forward run and for the recomputation
        determinism_check   "none" turns off the comparison of shapes, dtypes and devices between both runs
        debug               errors about differences between both runs list their operators
        early_stop          the recomputation stops after the last required tensor
        preserve_rng_state  the recomputation draws the same random numbers (default: True)

    `context_fn` and `debug` require `use_reentrant=False`. Raises ValueError for invalid arguments.
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in "
            "PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception. "
            "use_reentrant=False is recommended, but if you need to preserve the current default behavior, "
            "you can pass use_reentrant=True. Refer to docs for more details on the differences between the "
            "two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of {['default', 'none']}, but got {determinism_check}"
        )
    contexts = context_fn()
    if not is_grad_enabled():
        with contexts[0]:
            return function(*args, **kwargs)
    block = _Block(function, args, kwargs, contexts[1], preserve)
    block.early_stop = early_stop if _early_stop is None else _early_stop
    block.compared = determinism_check == "default"
    block.written = [] if debug else None
    with (
        block.writing("the original forward"),
        saved_tensors_hooks(block.make_handle, block.value_at),
        contexts[0],
    ):
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: nn.Sequential | Sequence[Callable[..., Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Run functions in sequence, in `segments` parts. All parts except the last one are checkpointed."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed "
            "explicitly. In version 2.9 we will raise an exception if use_reentrant is not passed. "
            "use_reentrant=False is recommended, but if you need to preserve the current default behavior, "
            "you can pass use_reentrant=True. Refer to docs for more details on the differences between the "
            "two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    layers: list[Any] = (
        list(functions.children()) if isinstance(functions, nn.Sequential) else list(functions)
    )
    size = len(layers) // segments
    for start in range(0, size * (segments - 1), size):
        input = checkpoint(
            _chain(layers[start : start + size]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _chain(layers[size * (segments - 1) :])(input)


def _chain(functions: list[Callable[..., Any]]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        for function in functions:
            x = function(x)
        return x

    return run


# ---------------------------------------------------------------- placeholders


class _SavedTensorHandle:
    """Placeholder that autograd saves in the forward run instead of a tensor."""

    __slots__ = ("__weakref__", "index", "values")

    def __init__(self, index: int) -> None:
        self.index = index
        # Dict from a backward pass to the tensor that it has recomputed, or to None after the pass has read
        # the tensor
        self.values: dict[Any, Tensor | None] = {}


class _StopRecomputation(BaseException):
    """Raised to stop the recomputation when all required tensors were saved."""


_outside = itertools.count()


class _Block:
    """Call of a checkpointed function, with the state of the forward run that the recomputation needs."""

    early_stop = True
    compared = True
    written: list[str] | None = None  # log of the operators of each run, if debugging is enabled

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        context: Any,
        preserve: bool,
    ) -> None:
        self._function = function
        self._args = [save(x) if isinstance(x, Tensor) else x for x in args]
        self._kwargs = kwargs
        self._context = context
        self._state = random.get_rng_state() if preserve else None
        self._autocast_state = RestoreAutocastState()
        self._handles: list[weakref.ref[_SavedTensorHandle]] = []
        self._expected_metadata: list[Any] = []

    def make_handle(self, x: Tensor) -> _SavedTensorHandle:
        """Return a placeholder, which autograd saves instead of the tensor `x`."""
        handle = _SavedTensorHandle(len(self._handles))
        self._handles.append(weakref.ref(handle))
        self._expected_metadata.append(_tensor_metadata(x) if self.compared else None)
        return handle

    def value_at(self, handle: _SavedTensorHandle) -> Tensor:
        """Return the tensor for a placeholder.

        In each backward pass, the first request recomputes all tensors.
        """
        backward_pass = current_task_id()
        key = backward_pass if backward_pass >= 0 else ("outside", next(_outside))
        if key not in handle.values:
            try:
                self._recompute(key)
            except CheckpointError as error:
                if self.written is None:
                    raise
                raise CheckpointError("\n\n".join([str(error), *self.written])) from error
        if key not in handle.values:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward "
                "and recomputation."
            )
        value, handle.values[key] = handle.values[key], None
        if value is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked "
                "once. If you are calling ctx.saved_tensors in backward, make sure to do so only once. "
                "Otherwise please open an issue with details on your use case."
            )
        return value

    def _recompute(self, key: Any) -> None:
        count = 0
        recomputed_metadata: list[Any] = []

        def fill(x: Tensor) -> Tensor:
            nonlocal count
            if count >= len(self._handles):
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during "
                    "the original forward pass."
                )
            handle = self._handles[count]()
            if handle is not None:
                handle.values[key] = x.detach()
            recomputed_metadata.append(_tensor_metadata(x) if handle is not None and self.compared else None)
            count += 1
            if self.early_stop and count == len(self._handles):
                raise _StopRecomputation
            return x

        args = [x.data if isinstance(x, SavedTensor) else x for x in self._args]
        try:
            with (
                enable_grad(),
                saved_tensors_hooks(fill, lambda x: x),
                _use_random_state(self._state),
                self.writing("the recomputation"),
                self._autocast_state,
                self._context,
            ):
                self._function(*args, **self._kwargs)
        except _StopRecomputation:
            pass
        self._check(count, recomputed_metadata)

    @contextmanager
    def writing(self, which: str) -> Iterator[None]:
        """Context manager that records the executed operators if debugging is enabled.

        `which` names the run in the log: "the original forward" or "the recomputation".
        """
        if self.written is None:
            yield
            return
        with OperatorLog(lambda _: False, lambda operator, _: operator.record.tensor_kernel) as writer:
            try:
                yield
            finally:
                names = [operator.key for operator, _, _ in writer.lines]
                self.written.append("\n    ".join([f"Operators that ran in {which}:", *names]))

    def _check(self, count: int, recomputed_metadata: list[Any]) -> None:
        if count != len(self._handles):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward "
                "and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self._handles)}\n"
                f"Number of tensors saved during recomputation: {count}.\n"
            )
        mismatches = [
            f"tensor at position {i}:\nsaved metadata: {before}\nrecomputed metadata: {recomputed}\n"
            for i, (before, recomputed) in enumerate(
                zip(self._expected_metadata, recomputed_metadata, strict=True)
            )
            if recomputed is not None and before != recomputed
        ]
        if mismatches:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata "
                "than "
                f"during the forward pass.\n{''.join(mismatches)}.\n"
            )


def _tensor_metadata(x: Tensor) -> dict[str, Any]:
    return {"shape": x.shape, "dtype": x.dtype, "device": x.device}


@contextmanager
def _use_random_state(state: Tensor | None) -> Iterator[None]:
    """Draw random numbers from `state` within this context, and restore the previous state afterwards."""
    with random.fork_rng(enabled=state is not None):
        if state is not None:
            random.set_rng_state(state)
        yield


# ---------------------------------------------------------------- reentrant checkpoints


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Return the indices of the CUDA devices of tensors in `args`, and the random states of these devices."""
    devices = sorted({x.get_device() for x in args if isinstance(x, Tensor) and x.is_cuda})
    return devices, [random_of_cuda.get_rng_state(device) for device in devices]


def set_device_states(devices: Iterable[int], states: Iterable[Tensor], *, device_type: str = "cuda") -> None:
    """Set the states of the random number generators of CUDA devices."""
    for device, state in zip(devices, states, strict=True):
        random_of_cuda.set_rng_state(state, device)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments with each tensor detached, but with the same `requires_grad`."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no argument requires grad."""
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


class CheckpointFunction(Function):
    """Checkpoint with `use_reentrant=True`: backward runs the function again and differentiates it."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function without recording its operators, and save its arguments and the random state."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.state = random.get_rng_state() if preserve_rng_state else None
        ctx.autocast_state = RestoreAutocastState()
        ctx.inputs = [None if isinstance(x, Tensor) else x for x in args]
        ctx.tensor_indices = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.save_for_backward(*[args[i] for i in ctx.tensor_indices])
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the function again with the saved state, and return the gradients of its tensor arguments.

        Raise RuntimeError if no result requires grad. Raise it also if the backward pass was started by
        `torch.autograd.grad`, or by `backward` with the argument `inputs`.
        """
        if not reaches_all_leaves():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an "
                "`inputs` parameter to .backward(). To resolve this error, you can either set "
                "use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.inputs)
        for i, x in zip(ctx.tensor_indices, ctx.saved_tensors, strict=True):
            inputs[i] = x
        with _use_random_state(ctx.state):
            detached_inputs = detach_variable(tuple(inputs))
            with enable_grad(), ctx.autocast_state:
                outputs = ctx.run_function(*detached_inputs)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        pairs = [
            (out, grad)
            for out, grad in zip(outputs, grads, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([out for out, _ in pairs], [grad for _, grad in pairs])
        return None, None, *[x.grad if isinstance(x, Tensor) else None for x in detached_inputs]
