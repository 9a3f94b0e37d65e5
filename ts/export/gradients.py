"""Capture of gradients (joint graph): operations of the backward pass become nodes of the exported graph.

Statements (left) record nodes (right):

    y = x.detach().requires_grad_()                   detach(x)
    ts.autograd.grad((y * y).sum(), y)                mul, sum, ones_like, expand, mul, mul, add

Fake tensors have no autograd graph. Instead, the export keeps a list of operator calls (a tape). The backward
pass runs the derivative formulas of `ts.ops.derivatives`, and records their operators in the same tape.
Therefore, gradients can be differentiated again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ts
from ts._core.dispatch.overloads import overloads
from ts._core.tensor.sym_types import SymInt, SymNumber
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import GradMode
from ts._higher_order_ops.aliases import Aliases
from ts.errors import UserError
from ts.export import torchscript_capture
from ts.export.fake import device_of
from ts.ops.derivatives import formulas
from ts.ops.derivatives.formula_registry import Derivative, derivative_of
from ts.ops.registry import field_by_name
from ts.ops.vmap_rules.rules import draws
from ts.tracing.meta_execution import tensors_in

if TYPE_CHECKING:
    from ts.export.tracer import ExportTracer
    from ts.fx.node import Node

_CONJUGATES: Final = field_by_name("conjugates")
_DETACHES: Final = field_by_name("detaches")

_WRITES: Final = (
    "{} writes in place to a tensor of a gradient computation inside of an exported program: use the "
    "out-of-place variant"
)


class TapeEntry(NamedTuple):
    """Recorded operator call."""

    op: Any
    values: list[Any]
    # one element for each return value of the schema, which may be a list of tensors
    results: list[Any]
    differentiable: bool  # grad mode during the call
    # Index of the call in the tape, to find later writes. If a decomposition made the call, the index is that
    # of the decomposed call.
    time: int = 0


class CustomFunctionNode(NamedTuple):
    """Item that a `TapeEntry` has instead of an operator for a call of a `torch.autograd.Function`."""

    key: str


class ExportTape:
    """Tape of recorded operators, and the backward pass over the tape."""

    def __init__(self, recorder: ExportTracer) -> None:
        self.recorder = recorder
        self.entries: list[TapeEntry] = []
        # Nodes that backward passes have recorded. At the end of the export, nodes with unused results are
        # removed.
        self.nodes: set[Node] = set()
        # id of a tensor with a gradient hook -> (the tensor, description of the hook)
        self.watched: dict[int, tuple[Tensor, str]] = {}
        self._in_backward = False
        self._memory = AliasTracker(recorder)
        # Ids of tensors that the backward pass has recomputed from tensors mutated in the meantime. They have
        # other values than in the forward pass.
        self._stale: set[int] = set()

    def record_operator(self, op: Any, values: list[Any], result: Any) -> None:
        """Append an operator call to the tape."""
        several = len(op.signature.returns) > 1
        results = list(result) if several else [result]
        self._memory.record_operator(op, values, result, len(self.entries))
        self.entries.append(TapeEntry(op, values, results, ts.is_grad_enabled(), len(self.entries)))

    def separate(self, x: Tensor) -> None:
        """Treat `x` as unaliased from now on, even if it shares memory with other tensors.

        For example, writes to `x = y.data` do not count as writes to `y`.
        """
        self._memory.separate(x)

    def note_function(self, name: str, values: list[Any], results: Any) -> None:
        """Append the call of the custom autograd function `name` to the tape."""
        fakes = [self.recorder.fake_of(x) for x in tensors_in(values)]
        outputs = list(tensors_in(results if isinstance(results, list | tuple) else [results]))
        self.entries.append(TapeEntry(CustomFunctionNode(name), fakes, outputs, ts.is_grad_enabled()))

    def watch(self, x: Tensor, how: str) -> None:
        """Record that `x` has a gradient hook. `how` describes the hook in error messages."""
        x = self.recorder.fake_of(x)
        self.watched[id(x)] = x, how

    def simplified(self, op: Any, values: list[Any]) -> Any:
        """Return x for a call of conj(x) with real x in a derivative formula. Return None for other calls.

        If x is returned, the caller records no node. If `op` expects a tensor, but `values` contains only
        numbers, replace the first number by a 0-d tensor.
        """
        if not self._in_backward:
            return None
        x = values[0] if values else None
        if _CONJUGATES[op.name]:
            return None if isinstance(x, Tensor) and x.dtype.is_complex else x
        is_number = isinstance(x, int | float) and op.signature.parameters[0].kind == "Tensor"
        if is_number and not any(True for _ in tensors_in(values)):
            values[0] = _to_tensor(x)
        return None

    # ---- backward pass

    def gradients(
        self,
        roots: Sequence[Tensor],
        root_gradients: Sequence[Tensor],
        inputs: Sequence[Tensor],
        create: bool,
    ) -> list[Tensor | None]:
        """Return the gradient of sum(root * root_gradient) with respect to each tensor of `inputs`.

        The gradient is None if no root depends on the tensor.

        create  True to make the gradients differentiable
        """
        recorder = self.recorder
        roots, root_gradients, inputs = (
            [recorder.fake_of(x) for x in tensors] for tensors in (roots, root_gradients, inputs)
        )
        before = set(recorder.graph.nodes)
        outside, self._in_backward = self._in_backward, True
        try:
            with self.recorder.in_function(), GradMode(create):
                return self._backward(list(self.entries), roots, root_gradients, inputs)
        finally:
            self._in_backward = outside
            self.nodes |= {node for node in recorder.graph.nodes if node not in before}

    def backward(
        self,
        roots: Sequence[Tensor],
        root_gradients: Sequence[Tensor],
        inputs: Sequence[Tensor] | None,
        create: bool,
    ) -> None:
        """Add the gradients of `roots` to the attribute `grad` of each tensor in `inputs`.

        If `inputs` is None, add them to all leaves. Raise UserError if one of these tensors is a parameter.
        """
        leaves = self._leaves(roots) if inputs is None else list(map(self.recorder.fake_of, inputs))
        state = {id(fake_tensor) for _, fake_tensor in self.recorder._fakes.values()}
        if any(id(x) in state for x in leaves):
            raise UserError(
                "backward() inside of an exported program would set gradients of parameters, which are not "
                "outputs of the program: compute them with autograd.grad"
            )
        for x, gradient in zip(leaves, self.gradients(roots, root_gradients, leaves, create), strict=True):
            if gradient is not None:
                if x.grad is None:
                    x.grad = gradient
                elif create:
                    x.grad = x.grad + gradient
                else:  # in place, as in eager code
                    x.grad.add_(gradient)

    def _leaves(self, roots: Sequence[Tensor]) -> list[Tensor]:
        """Return the leaf tensors that require grad and contribute to `roots`."""
        reached = {id(x): x for x in map(self.recorder.fake_of, roots)}
        computed_ids: set[int] = set()
        for entry in reversed(self.entries):
            if any(id(x) in reached for x in tensors_in(entry.results)) and _passes(entry):
                arguments = [x for x in tensors_in(entry.values) if x.requires_grad]
                if arguments:
                    computed_ids |= {id(x) for x in tensors_in(entry.results)}
                reached |= {id(x): x for x in arguments}
        return [x for i, x in reached.items() if i not in computed_ids and x.requires_grad]

    def _backward(
        self,
        entries: list[TapeEntry],
        roots: Sequence[Tensor],
        root_gradients: Sequence[Tensor],
        inputs: Sequence[Tensor],
    ) -> list[Tensor | None]:
        dependents = _find_dependents(entries, inputs)
        self._check(entries, roots, inputs, dependents)
        sums: dict[int, Tensor] = {}
        for x, gradient in zip(roots, root_gradients, strict=True):
            _add(sums, x, gradient)
        input_ids = {id(x) for x in inputs}
        input_gradients: dict[int, Tensor] = {}
        for entry in reversed(entries):
            results = [x for x in tensors_in(entry.results) if id(x) in sums]
            if not results:
                continue
            input_gradients |= {id(x): sums[id(x)] for x in results if id(x) in input_ids}
            gradients = []
            if _passes(entry) and any(id(x) in dependents for x in tensors_in(entry.values)):
                gradients = self._input_gradients(entry, sums, dependents)
            for x in results:
                sums.pop(id(x), None)
            for x, gradient in gradients:
                if id(x) in dependents:
                    _add(sums, x, gradient)
        return [input_gradients.get(id(x), sums.get(id(x))) for x in inputs]

    def _check(
        self,
        entries: list[TapeEntry],
        roots: Sequence[Tensor],
        inputs: Sequence[Tensor],
        dependents: set[int],
    ) -> None:
        """Raise UserError if the backward pass would reach an operator or hook that is not supported."""
        reached = {id(x): x for x in roots}
        memory = _memory(entries)
        computed_ids = {id(x) for x in inputs}
        input_ids = set(computed_ids)
        for entry in reversed(entries):
            written = _written_tensors(entry) if entry.differentiable else []
            depends = any(id(x) in dependents for x in tensors_in(entry.values))
            # `roots` may depend on another view of the written memory.
            if written and depends:
                written_memory = {memory.get(id(x), id(x)) for x in written}
                if any(memory.get(i, i) in written_memory for i in reached):
                    raise UserError(_WRITES.format(entry.op.key))
            if any(id(x) in reached for x in tensors_in(entry.results)):
                computed_ids |= {id(x) for x in tensors_in(entry.results)}
                if not _passes(entry):
                    continue
                if written and depends:
                    raise UserError(_WRITES.format(entry.op.key))
                if isinstance(entry.op, CustomFunctionNode) and depends:
                    raise UserError(
                        "gradients inside of an exported program are not supported through "
                        f"{entry.op.key}, a function with a custom derivative: call its derivative directly"
                    )
                reached |= {id(x): x for x in tensors_in(entry.values)}
        for i, (_, how) in self.watched.items():
            if i in dependents and i in reached and not (how == "retain_grad" and i in input_ids):
                raise UserError(
                    f"{how} of an intermediate tensor of a gradient computation inside of an exported "
                    "program is not supported: compute the gradient of that tensor with autograd.grad"
                )
        for i, x in reached.items():
            node = self.recorder.node_of(x)
            if (
                i not in computed_ids
                and i not in input_ids
                and x.requires_grad
                and node.op == "call_function"
            ):
                source = node.args[0] if node.target is operator.getitem else node
                target = getattr(source, "target", node.target)
                name = getattr(target, "name", getattr(target, "__name__", target))
                raise UserError(
                    "gradients inside of an exported program are not supported through "
                    f"{name() if callable(name) else name}: return "
                    "the forward results from the program, and compute gradients outside"
                )

    def _input_gradients(
        self, entry: TapeEntry, sums: dict[int, Tensor], dependents: set[int]
    ) -> list[tuple[Tensor, Tensor]]:
        """Return (argument, gradient) pairs for the arguments of one recorded operator call."""
        op = entry.op
        if op.name == "aten::to":
            x = entry.values[0]
            return [(x, sums[id(entry.results[0])].to(device=device_of(x), dtype=x.dtype))]
        derivative = derivative_of(op.record)
        decomposition = (
            None
            if derivative is not None and derivative.formulas
            else self._decomposition(op.record, derivative)
        )
        if decomposition is not None:
            return self._backward_of_decomposition(entry, decomposition, sums, dependents)
        if derivative is None or not derivative.formulas:
            raise NotImplementedError(f"derivative for {op.name} is not implemented")
        return self._by_formula(entry, derivative, sums, dependents)

    def _decomposition(self, record: Any, derivative: Derivative | None) -> Callable[[list[Any]], Any] | None:
        """Return a function that runs the decomposition of an operator on a list of arguments.

        Return None if the operator has no decomposition.
        """
        if derivative is not None:
            return self._script(formulas.get_decomposition(record)) if derivative.decomposition else None
        return (lambda values: record.kernel(*values)) if record.tensor_kernel else None

    def _script(self, function: Any) -> Callable[[list[Any]], Any]:
        """Return a callable that runs a derivative formula in TorchScript and records its operators."""
        return lambda values: torchscript_capture.call(self.recorder, function, values, {})

    def _backward_of_decomposition(
        self, entry: TapeEntry, decomposition: Any, sums: dict[int, Tensor], dependents: set[int]
    ) -> list[tuple[Tensor, Tensor]]:
        """Return the gradients of an operator call.

        Record the decomposition of the operator and differentiate it.
        """
        first = len(self.entries)
        with GradMode(True):
            again = decomposition(entry.values)
        entries = [each._replace(time=entry.time) for each in self.entries[first:]]
        written = {id(x) for x in tensors_in(entry.values) if self._memory.writes_since(x, entry.time)}
        for each in entries:
            if any(id(x) in written or id(x) in self._stale for x in tensors_in(each.values)):
                self._stale |= {id(x) for x in tensors_in(each.results)}
            writes = any(p.written for p in each.op.signature.parameters)
            if writes or (each.op.record.nondeterministic and draws(each.op.record, each.values)):
                raise UserError(
                    f"gradients inside of an exported program are not supported through {entry.op.key}, "
                    "which draws random numbers or writes: return the forward results from the program, and "
                    "compute gradients outside"
                )
        results = again if isinstance(again, tuple | list) else [again]
        pairs = [
            (self.recorder.fake_of(new), sums[id(old)])
            for new, old in zip(tensors_in(results), tensors_in(entry.results), strict=True)
            if id(old) in sums
        ]
        arguments = list({id(x): x for x in tensors_in(entry.values) if id(x) in dependents}.values())
        gradients = self._backward(entries, [x for x, _ in pairs], [g for _, g in pairs], arguments)
        return [(x, g) for x, g in zip(arguments, gradients, strict=True) if g is not None]

    def _by_formula(
        self, entry: TapeEntry, derivative: Derivative, sums: dict[int, Tensor], dependents: set[int]
    ) -> list[tuple[Tensor, Tensor]]:
        inputs = formulas.inputs_of(entry.op.record)
        arguments = dict(zip(inputs.parameters, entry.values, strict=True))
        differentiated_names = [
            name
            for name in derivative.inputs
            if any(id(x) in dependents for x in tensors_in([arguments[name]]))
        ]
        if not differentiated_names:
            return []
        formula = formulas.gradient(entry.op.record, differentiated_names)
        values = _Values(
            inputs,
            arguments,
            entry,
            sums,
            derivative.absent,
            [n in differentiated_names for n in formula.gradient_names],
        )
        reads = [values.of(read) for read in formula.parameters]
        for read, x in zip(formula.parameters, reads, strict=True):
            if not read.fact and not values.is_gradient(read):
                self._check_unwritten(tensors_in([x]), entry)
        output = self._script(formula.function())(reads)
        several = output if len(formula.gradient_names) > 1 else (output,)
        pairs = []
        for name, gradient in zip(formula.gradient_names, several, strict=True):
            of_lists = gradient if isinstance(gradient, list | tuple) else [gradient]
            for x, g in zip(tensors_in([arguments[name]]), of_lists, strict=False):
                if isinstance(g, Tensor):
                    pairs.append((x, _like(x, g)))
        return pairs

    def _check_unwritten(self, needed: Iterable[Tensor], entry: TapeEntry) -> None:
        """Raise RuntimeError if a tensor in `needed` was mutated after the operator call `entry`."""
        for x in needed:
            count = self._memory.writes_since(x, entry.time)
            if not count and id(x) not in self._stale:
                continue
            with self.recorder.paused():
                what = f"[{x.type()} {list(x.shape)}]"  # type: ignore[operator]
            now = len(self._memory.writes(x))
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace "
                f"operation: {what}, of {entry.op.key}, is at version {now}; expected version {now - count} "
                "instead. Hint: write to a clone of it."
            )


class AliasTracker:
    """Record of the tensors that share memory, and of the writes to each memory.

    The time of a write is the index of the operator call in the tape.
    """

    def __init__(self, recorder: ExportTracer) -> None:
        self._recorder = recorder
        self._aliases = Aliases()
        # root id (see `Aliases.root`), which tensors with the same memory share -> times of writes to the
        # memory
        self._writes: dict[int, list[int]] = {}

    def record_operator(self, op: Any, values: list[Any], result: Any, time: int) -> None:
        """Record the results of an operator call that alias arguments, and the arguments that it writes."""
        aliases = self._aliases
        if all(argument.alias is None for argument in op.schema.arguments):
            return
        with self._recorder.environment.guessing(), self._recorder.paused():
            aliases.record_operator(op, values, result)
        if _DETACHES[op.name]:  # no element changes, although the schema of `detach_` states a write
            return
        for argument, value in zip(op.schema.arguments, values, strict=True):
            if argument.alias is not None and argument.is_write:
                for root in {aliases.root(x) for x in tensors_in([value])}:
                    self._writes.setdefault(root, []).append(time)

    def separate(self, x: Tensor) -> None:
        """Treat `x` as unaliased from now on."""
        self._aliases.mark_separate(x)

    def writes(self, x: Tensor) -> list[int]:
        """Return the write times of a tensor's memory."""
        return self._writes.get(self._aliases.root(x), [])

    def writes_since(self, x: Tensor, time: int) -> int:
        """Return the number of writes to a tensor's memory after `time`."""
        return sum(t > time for t in self.writes(x))


class _Values:
    """Values of the parameters of a derivative formula: arguments, results and result gradients of a call."""

    def __init__(
        self,
        inputs: formulas.Inputs,
        arguments: dict[str, Any],
        entry: TapeEntry,
        sums: dict[int, Tensor],
        absent: bool,
        mask: list[bool],
    ) -> None:
        self.inputs, self.arguments, self.entry = inputs, arguments, entry
        self.sums, self.absent, self.mask = sums, absent, mask

    def is_gradient(self, read: formulas.FormulaParameter) -> bool:
        """Return True if the parameter `read` of the formula is the gradient of a result of the call."""
        return self._result_of_gradient(read) is not None

    def _result_of_gradient(self, read: formulas.FormulaParameter) -> int | None:
        for i, result in enumerate(self.inputs.results):
            if read.of == result.gradient or (read.of == "grad" and i == self.inputs.differentiable[0]):
                return i
        return None

    def of(self, read: formulas.FormulaParameter) -> Any:
        if read.of == "output_mask":
            return self.mask
        if not read.fact and (i := self._result_of_gradient(read)) is not None:
            return self._gradient(self.entry.results[i])
        x = self.arguments[read.of] if read.of in self.arguments else self._result(read.of)
        if read.fact:
            return _fact(x, read.fact)
        if isinstance(x, SymNumber) and self.inputs.parameters[read.of].kind == "Tensor":
            return _to_tensor(x)
        return x

    def _result(self, name: str) -> Any:
        return self.entry.results[[r.name for r in self.inputs.results].index(name)]

    def _gradient(self, result: Any) -> Any:
        if isinstance(result, list | tuple):
            return [self._gradient(x) for x in result]
        gradient = self.sums.get(id(result))
        if gradient is None and not self.absent:
            return overloads("zeros_like")(result)
        return gradient


def _fact(x: Any, fact: str) -> Any:
    if isinstance(x, list | tuple):
        return [_fact(y, fact) for y in x]
    if x is None:
        return None
    if fact in ("size", "stride"):
        return list(getattr(x, fact)())
    if fact == "dtype":
        return x.dtype.code
    return getattr(x, fact)()


def _to_tensor(x: Any) -> Any:
    """Convert a number to a 0-d tensor."""
    return ts.ops.aten.scalar_tensor(x, dtype=ts.int64 if isinstance(x, int | SymInt) else None)


def _passes(entry: TapeEntry) -> bool:
    """Return True if the backward pass continues from the results of the call to its arguments.

    Raise RuntimeError if the operator does not accept arguments that require grad.
    """
    if not entry.differentiable:
        return False
    if isinstance(entry.op, CustomFunctionNode):
        return True
    derivative = derivative_of(entry.op.record)
    if derivative is not None and derivative.rejects_grad:
        raise RuntimeError(derivative.reason)
    return derivative is None or not derivative.reason


def _written_tensors(entry: TapeEntry) -> list[Tensor]:
    """Return the tensors that the recorded call mutates."""
    if isinstance(entry.op, CustomFunctionNode):
        return []
    parameters = entry.op.signature.parameters
    return list(tensors_in([x for p, x in zip(parameters, entry.values, strict=False) if p.written]))


def _memory(entries: list[TapeEntry]) -> dict[int, int]:
    """Return a dictionary: id of a differentiable view -> id of its base tensor."""
    base_ids: dict[int, int] = {}
    for entry in entries:
        derivative = None if isinstance(entry.op, CustomFunctionNode) else derivative_of(entry.op.record)
        if isinstance(entry.op, CustomFunctionNode) or (derivative is not None and derivative.reason):
            continue
        for returned, result in zip(entry.op.signature.returns, entry.results, strict=False):
            if not 0 <= returned.view_of < len(entry.values):
                continue
            for base in tensors_in([entry.values[returned.view_of]]):
                for x in tensors_in([result]):
                    if x is not base:
                        base_ids[id(x)] = base_ids.get(id(base), id(base))
    return base_ids


def _find_dependents(entries: list[TapeEntry], inputs: Sequence[Tensor]) -> set[int]:
    """Return the ids of `inputs` and of all floating-point and complex tensors computed from them."""
    dependents = {id(x) for x in inputs}
    for entry in entries:
        if _passes(entry) and any(id(x) in dependents for x in tensors_in(entry.values)):
            dependents |= {
                id(x) for x in tensors_in(entry.results) if x.is_floating_point() or x.is_complex()
            }
    return dependents


def _add(sums: dict[int, Tensor], x: Tensor, gradient: Tensor) -> None:
    before = sums.get(id(x))
    sums[id(x)] = gradient if before is None else before + gradient


def _like(x: Tensor, gradient: Tensor) -> Tensor:
    """Sum `gradient` over broadcast dimensions and convert it, so that it has the shape and dtype of `x`."""
    lead = gradient.ndim - x.ndim
    dims = list(range(lead))
    for d, n in enumerate(x.shape):
        if not _equal(n, gradient.shape[lead + d]):
            dims.append(lead + d)
    if dims:
        gradient = gradient.sum(dims, True)
        if lead:
            gradient = gradient.view(x.shape)
    if gradient.is_complex() and not x.is_complex():
        gradient = ts.real(gradient)
    return gradient if gradient.dtype is x.dtype else gradient.to(x.dtype)


def _equal(n: Any, m: Any) -> bool:
    return n is m or bool(n == m)
