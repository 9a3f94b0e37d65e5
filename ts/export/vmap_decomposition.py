"""Decomposition of `vmap`, so that the decomposed program computes on whole batches.

The program has an operator on a single element (first line), the result an operator on the batch:

    _add_batch_dim(x, 0, 1); sum(_); _remove_batch_dim(_, 1, 5, 0)
    sum(x, [1])

Between `_add_batch_dim` and `_remove_batch_dim`, a fake tensor with the shape of one element represents the
batch (a "stand-in"). An operator on a stand-in runs its batching rule in `ts.ops.vmap_rules`. The operators
that this rule calls are recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ts._core.dispatch_layers import batched_tensor
from ts._core.dispatch_layers.batched_tensor import Batched, Call
from ts._core.dispatch_layers.level_stack import Level
from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts._functorch import predispatch
from ts.errors import UserError
from ts.export.fake import device_of, fake_array, fake_for
from ts.ops.vmap_rules.rules import (
    composite,
    draws,
    has_rule,
    run_batched,
    run_random,
    unbatched_write_message,
    writes_first_argument,
)
from ts.tracing.meta_execution import tensors_in

if TYPE_CHECKING:
    from ts.export.functionalization import FunctionalizingTracer


class OpenVmapLevels:
    """Levels of `vmap` that the replay has entered, with the stand-ins for elements of their batches."""

    def __init__(self, recorder: FunctionalizingTracer) -> None:
        self.recorder = recorder
        self.levels: list[Level] = []
        # id of a stand-in -> (the stand-in, its batch)
        self._layers: dict[int, tuple[Tensor, Batched]] = {}

    # ---- nodes that start and end a batch

    def begin(self, size: Any, randomness: str) -> None:
        """Enter a new level with a batch of `size` elements."""
        level = Level(len(self.levels) + 1, batched_tensor.run, batched_tensor.the_same)
        level.size, level.random = size, randomness
        self.levels.append(level)

    def close(self) -> None:
        """Leave the innermost level."""
        self.levels.pop()

    def add(self, x: Tensor, dim: int, level: int) -> Tensor:
        """Return a stand-in at the level `level` for the tensor `x`, which is batched along `dim`."""
        return self._create_stand_in(level, x if dim == 0 else x.movedim(dim, 0))

    def remove(self, x: Tensor, level: int, size: Any, dim: int) -> Tensor:
        """Return the batch that the stand-in `x` represents, with the batch dimension at `dim`."""
        inner, is_batched = self.unwrap(level, x)
        batch: Tensor = inner if is_batched else inner.expand([size, *inner.shape])
        return batch if dim == 0 else batch.movedim(0, dim)

    def _create_stand_in(self, level: int, inner: Tensor) -> Tensor:
        array = inner.array
        steps = [s // array.itemsize for s in array.strides[1:]]
        stand_in = fake_for(fake_array(array.shape[1:], array.dtype, steps), device_of(inner))
        self._layers[id(stand_in)] = stand_in, Batched(level, inner, True)
        return stand_in

    # ---- stand-ins in arguments

    def unwrap(self, level: int, x: Any) -> tuple[Any, bool]:
        """Return (batch of `x`, True) if the argument `x` is a stand-in of `level`, else (`x`, False)."""
        entry = self._layers.get(id(x))
        return (x, False) if entry is None or entry[1].level != level else (entry[1].inner, True)

    def has(self, values: Any) -> bool:
        """Return True if the arguments contain a stand-in."""
        return bool(self._layers) and any(id(x) in self._layers for x in tensors_in(values))

    def level_of(self, op: Any, values: list[Any]) -> Level | None:
        """Return the innermost level of the stand-ins in `values`.

        If `values` contains no stand-in, return the innermost open level if `op` draws random numbers, else
        None.
        """
        if not self.levels:
            return None
        levels = [self._layers[id(x)][1].level for x in tensors_in(values) if id(x) in self._layers]
        if levels:
            return self.levels[max(levels) - 1]
        if op.record is not None and op.record.nondeterministic and draws(op.record, values):
            return self.levels[-1]
        return None

    # ---- operators on stand-ins

    def run(self, level: Level, op: Any, values: list[Any]) -> Any:
        """Run an operator on stand-ins by its batching rule."""
        record, recorder = op.record, self.recorder
        with recorder.recording():
            decomposition = composite(record)
            if decomposition is not None:
                return decomposition(*values)
            if not has_rule(record.functional):
                output = recorder.by_decomposition(op, values)
                if output is not NotImplemented:
                    return output
                if isinstance(level.size, SymNumber):
                    raise UserError(
                        f"{op.key} is applied to each batch element separately, which requires a constant "
                        "batch size: the program cannot be decomposed"
                    )
            call = _RecordedOperator(self, level, op, values)
            some = any(call.is_batched(i) for i in range(len(values)))
            if record.nondeterministic:
                outer = self.levels
                self.levels = outer[: level.level_id - 1]
                try:
                    output, of_batch = run_random(call)
                finally:
                    self.levels = outer
            elif not some:
                output, of_batch = call.run_as_called(call.values), False
            elif record.variant == "inplace" or writes_first_argument(record):
                return self._run_in_place(call, values)
            else:
                output = run_batched(call)
                output, of_batch = (
                    (output.value, False) if isinstance(output, batched_tensor.Unbatched) else (output, True)
                )
        returns = op.signature.returns
        if isinstance(output, Tensor) and returns and returns[0].alias_of >= 0:
            return values[returns[0].alias_of]
        return self._wrap_output(level.level_id, output) if of_batch else output

    def _run_in_place(self, call: _RecordedOperator, values: list[Any]) -> Any:
        """Run an operator that mutates a stand-in, its first argument. Return this argument.

        The result on batches becomes the new value of the stand-in's batch. Raise RuntimeError if the first
        argument is not batched.
        """
        if not call.batch_flags[0]:
            raise RuntimeError(unbatched_write_message(call))
        target, below = values[0], call.values[0]
        output = run_batched(call)
        if call.operator.record.reshapes:  # `target` may have another shape now
            stand_in = self._create_stand_in(call.level.level_id, output)
            self._layers[id(target)] = target, self._layers[id(stand_in)][1]
            with self.recorder.paused():
                target.data = stand_in
        elif output is not below:
            self.recorder.write(below, output)
        return target

    def _wrap_output(self, level: int, output: Any) -> Any:
        if isinstance(output, tuple | list):
            elements = [self._wrap_output(level, x) for x in output]
            return (
                type(output)(elements)
                if type(output) in (tuple, list) or hasattr(output, "_fields")
                else elements
            )
        return self._create_stand_in(level, output) if isinstance(output, Tensor) else output


class _RecordedOperator(Call):
    """Call of an operator on batches. The operators that its batching rule calls are recorded."""

    def __init__(self, batches: OpenVmapLevels, level: Level, op: Any, args: list[Any]) -> None:
        self.batches = batches
        super().__init__(level, op, args)

    def unwrap(self, x: Any) -> tuple[Any, bool]:
        return self.batches.unwrap(self.level.level_id, x)

    def run(self, values: list[Any]) -> Any:
        return self.batches.recorder.run(self.record.operator, values)

    def run_as_called(self, values: list[Any]) -> Any:
        return self.batches.recorder.run(self.operator, values)


def _nothing(batches: OpenVmapLevels) -> None:
    """Replay a node that loads decompositions of `vmap`. Do nothing, because these are loaded already."""


VMAP_OPERATORS: Final[dict[Any, Callable[..., Any]]] = {
    predispatch.lazy_load_decompositions: _nothing,
    predispatch._vmap_increment_nesting: OpenVmapLevels.begin,
    predispatch._vmap_decrement_nesting: OpenVmapLevels.close,
    predispatch._add_batch_dim: OpenVmapLevels.add,
    predispatch._remove_batch_dim: OpenVmapLevels.remove,
}
