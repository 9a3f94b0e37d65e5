"""Functionalization (mutation removal, view replay): each mutation of a tensor becomes a new tensor.

This example mutates `y`, a view of the base `x`. The graph computes a new base:

    program    y = x[0]; y.add_(1); x.sum()
    graph      select(x, 0); add(select, 1); select_scatter(x, add, 0, 0); sum(select_scatter)

Other views of the base are computed again at their next read.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import ts
from ts._core.dispatch import autocast
from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.auto_functionalize import auto_functionalized_op, describe_view
from ts.export.autocast_on_fakes import cast_dtype, find_autocast_flag, is_cast
from ts.export.decision_policy import CollectingPolicy, UndecidableError
from ts.export.decompositions import decomposition_table, view_scatter
from ts.export.fake import device_of, fake_for, plain
from ts.export.node_arguments import origin_of, readable
from ts.export.python_operators import IN_PLACE_SIGNS
from ts.export.shape_env import ShapeEnv
from ts.export.sympy_functions import to_sympy
from ts.export.tracer import ExportTracer
from ts.export.vmap_decomposition import OpenVmapLevels
from ts.fx.node import Node
from ts.ops import registry
from ts.ops.namespace import overload_named

_ALWAYS_COPIES = registry.field_by_name("always_copies")


@dataclass
class StorageState:
    """State of a storage: the tensor that contains its current value, and the number of writes so far."""

    value: Tensor
    writes: int = 0


@dataclass(frozen=True)
class View:
    """Call of a view operator, without the viewed tensor.

    arguments   all other arguments
    index       index of the selected result, or None for an operator with one result
    """

    op: Any
    arguments: tuple[Any, ...]
    index: int | None

    def of(self, x: Tensor) -> Tensor:
        """Return the result of this view operator for the tensor `x`."""
        parameters = self.op.signature.parameters[1:]
        arguments = list(zip(parameters, self.arguments, strict=True))
        positional = [a for p, a in arguments if not p.keyword_only]
        named = {p.name: a for p, a in arguments if p.keyword_only}
        output = overload_named(self.op.name, self.op.overload)(x, *positional, **named)
        return output if self.index is None else output[self.index]  # type: ignore[no-any-return]


@dataclass
class TensorAlias:
    """Description of a tensor as a view of a storage.

    base            state of the storage
    views           view operators that compute the tensor from the base, in order
    synced_writes   `base.writes` at the time when the node of the tensor was last computed
    """

    base: StorageState
    views: tuple[View, ...] = ()
    synced_writes: int = 0


class FunctionalizingTracer(ExportTracer):
    """Tracer of `run_decompositions`: replaces mutations by new tensors, and decomposes operators."""

    is_decomposition = True

    def __init__(self, environment: ShapeEnv, decompositions: decomposition_table.Table) -> None:
        super().__init__(environment)
        self._decompositions = decompositions
        # node of the old graph that is being replayed. New nodes copy its metadata.
        self.origin: Node | None = None
        # conditions on sizes that the example arguments decided. They become guards of the new program.
        self.noted: list[Any] = []
        self.reshaped: list[Tensor] = []  # tensors whose shape an in-place operator changed
        self._decomposition_depth = 0
        # True while a decomposition runs in which `x * 2` calls `mul.Scalar`, as in PyTorch's C++ functions
        self._calls_scalar_overloads = False
        # id of a tensor -> (the tensor, its alias record)
        self._aliases: dict[int, tuple[Tensor, TensorAlias]] = {}
        self.open_batches = OpenVmapLevels(self)
        # id of a symbolic number of the old graph -> (the number, the node in the new graph that computes it)
        self.number_nodes: dict[int, tuple[SymNumber, Node]] = {}

    def _about(self) -> dict[str, Any]:
        """Return metadata for a new node, copied from `origin`."""
        metadata = origin_of(self.origin)
        if self.origin is not None and "torch_fn" in self.origin.meta:
            metadata["torch_fn"] = self.origin.meta["torch_fn"]
        return metadata

    def node_of(self, x: Any) -> Any:
        """Return the node of a tensor or symbolic number.

        If the old graph computes the number, return the node of the new graph that repeats this computation.
        """
        entry = self.number_nodes.get(id(x)) if isinstance(x, SymNumber) else None
        return super().node_of(x) if entry is None else entry[1]

    def arithmetic(self, function: Any, arguments: tuple[Any, ...], result: Any) -> None:
        """Record a node that computes `result`, also if another node computes an equal number.

        As in PyTorch, each operation of a decomposition on sizes has its own node.
        """
        if ts._core.thread.context.current_tracer() is self:
            operands = tuple(map(self.node_of, self._as_one_kind(arguments)))
            node = self._call(function, operands, result)
            self.number_nodes[id(result)] = result, node
            self._size_nodes.setdefault(result.node.expr, node)

    def numel(self, x: Tensor) -> Any:
        """Return `x.numel()` without recording."""
        return self.unrecorded(lambda: x.array.size)

    def _tensor_node(self, x: Tensor) -> Node:
        alias = self.alias_of(x)
        if alias.synced_writes != alias.base.writes:
            alias.synced_writes = alias.base.writes
            value = alias.base.value
            with self.recording():
                for view in alias.views:
                    value = view.of(value)
            self._set_node_of(x, value)
        return super()._tensor_node(x)

    def alias_of(self, x: Tensor) -> TensorAlias:
        """Return the alias record of a tensor. A tensor without record becomes the base of a new storage."""
        entry = self._aliases.get(id(x))
        if entry is None:
            entry = self._aliases[id(x)] = x, TensorAlias(StorageState(x))
        return entry[1]

    def _set_node_of(self, x: Tensor, value: Tensor) -> None:
        """Map `x` to the node of `value`."""
        self._tensors[id(x)] = x, super()._tensor_node(value)

    def guessing(self) -> AbstractContextManager[None]:
        """Return a context in which the example arguments decide conditions on layouts, without guards."""
        return self.environment.guessing()

    def write(self, x: Tensor, value: Tensor) -> None:
        """Record `value` as the new value of `x`.

        Other tensors with the same storage are recomputed when they are read.
        """
        with self.recording():
            self._write(x, value)

    def _write(self, x: Tensor, value: Tensor) -> None:
        if value.dtype is not x.dtype:
            value = ts.ops.aten._to_copy(value, dtype=x.dtype)
        alias = self.alias_of(x)
        befores = [alias.base.value]
        for view in alias.views[:-1]:
            befores.append(view.of(befores[-1]))
        for view, before in zip(reversed(alias.views), reversed(befores), strict=False):
            value = view_scatter.unview(view.op, before, value, view.arguments, view.index)
        base = alias.base
        base.value = value
        base.writes += 1
        if not alias.views:
            alias.synced_writes = base.writes
            self._set_node_of(x, value)

    def written(self, x: Tensor) -> bool:
        """Return True if the storage of `x` was written."""
        return self.alias_of(x).base.writes > 0

    def of_tensors(self, op: Any) -> Any:
        """Return the overload to record for `op`.

        If `op` is a `Scalar` overload, return the Tensor overload that PyTorch calls. Within some
        decompositions, return `op` itself.
        """
        return op if self._calls_scalar_overloads and op.overload == "Scalar" else super().of_tensors(op)

    def run(self, op: Any, values: list[Any]) -> Any:
        """Record nodes without mutation for a call of `op`, and return its result.

        First, casts of autocast are recorded. If `op` has a decomposition, the decomposition runs. Otherwise,
        `op` is recorded, or its functional variant if `op` mutates arguments.
        """
        values = [self._with_fakes(x) for x in values]
        alias = find_autocast_flag(values)
        if alias is None or (
            op.record is not None and op.record.tensor_kernel and cast_dtype(op, values) is None
        ):
            return self._run(op, values)
        dtype = cast_dtype(op, values)
        # Autocast is disabled, so that the decomposition does not repeat the casts below.
        autocast.set_enabled(alias, False)
        try:
            if dtype is not None:
                with self.recording():
                    values = [self._cast(x, dtype) for x in reversed(values)][::-1]
            return self._run(op, values)
        finally:
            autocast.set_enabled(alias, True)

    def _cast(self, x: Any, dtype: Any) -> Any:
        """Convert the tensors in the argument `x` that autocast would convert to `dtype`."""
        if isinstance(x, list):
            return [self._cast(y, dtype) for y in x]
        is_other = isinstance(x, Tensor) and is_cast(x, dtype)
        return ts.ops.aten._to_copy(x, dtype=dtype) if is_other else x

    def _run(self, op: Any, values: list[Any]) -> Any:
        if (level := self.open_batches.level_of(op, values)) is not None:
            return self.open_batches.run(level, op, values)
        if op.record is not None and op.record.is_inplace_view:
            return self._reshaped(op, values)
        written = [i for i, p in enumerate(op.signature.parameters) if p.written]
        if written and not (len(written) == 1 and op.key in self._decompositions):
            return self._run_mutating_operator(op, values, written)
        decomposition_output = self.by_decomposition(op, values)
        if decomposition_output is not NotImplemented:
            # The operator always returns a copy, but its decomposition may return a view. Treat this view as
            # a separate storage, so that later writes to the argument do not change the result.
            if _ALWAYS_COPIES[op.name] and decomposition_output is not values[0]:
                self._aliases[id(decomposition_output)] = (
                    decomposition_output,
                    TensorAlias(StorageState(decomposition_output)),
                )
            return decomposition_output
        try:
            result = super().run(op, values)
        except UndecidableError:
            if self._decomposition_depth or self.environment.guard_builder is None:
                raise
            with self.environment.deciding_by(CollectingPolicy(self.noted)):
                result = super().run(op, values)
        self._note_views(op, values, result)
        return result

    def by_decomposition(self, op: Any, values: list[Any]) -> Any:
        """Return the result of an operator's decomposition.

        Return NotImplemented if the operator has no decomposition, or if the decomposition depends on a
        condition that cannot be decided.
        """
        decomposition = self._decompositions.get(op.key) or _composite_function(op)
        if decomposition is None:
            return NotImplemented
        positional, named = [], {}
        for p, x in zip(op.signature.parameters, values, strict=True):
            if p.keyword_only:
                named[p.name] = readable(p.kind, x)
            else:
                positional.append(readable(p.kind, x))
        self._decomposition_depth += 1
        before = self._calls_scalar_overloads
        self._calls_scalar_overloads = getattr(decomposition, "calls_scalar_overloads", False)
        try:
            with self.recording():
                return decomposition(*positional, **named)
        except UndecidableError:
            return NotImplemented
        finally:
            self._decomposition_depth -= 1
            self._calls_scalar_overloads = before

    def _reshaped(self, op: Any, values: list[Any]) -> Tensor:
        """Record an operator `op` that changes the shape of its argument in place, as a view operator.

        The argument gets the node and metadata of the view.
        """
        x = values[0]
        view = self.run(_without_write(op), values)
        with self.recording():
            self._tensors[id(x)] = x, self._tensor_node(view)
        self._aliases[id(x)] = x, self.alias_of(view)
        with self.paused():
            plain(x).data = x.data = plain(view)
        self.reshaped.append(x)
        return x  # type: ignore[no-any-return]

    def _run_mutating_operator(self, op: Any, values: list[Any], written: list[int]) -> Any:
        """Run the functional variant of `op`, and record its results as new values of mutated arguments.

        Return the mutated arguments. A custom operator is recorded as `auto_functionalized_v2` instead.
        """
        if not op.name.startswith("aten::"):
            return self._functionalized(op, values)
        functional = _without_write(op)
        arguments_by_name = {p.name: x for p, x in zip(op.signature.parameters, values, strict=True)}
        arguments = [arguments_by_name[p.name] for p in functional.signature.parameters]
        output = self.run(functional, arguments)
        results = list(output) if isinstance(output, tuple | list) else [output]
        targets = [values[i] for i in written]
        for x, value in zip(targets, results[-len(targets) :], strict=True):
            self.write(x, value)
        return targets[0] if len(targets) == 1 else tuple(targets)

    def _functionalized(self, op: Any, values: list[Any]) -> Any:
        """Record a custom operator as `auto_functionalized_v2`, which runs it on copies of its arguments."""
        parameters = op.signature.parameters
        if any(each.view_of >= 0 for each in op.signature.returns):
            raise RuntimeError(
                f"{op.key} returns an argument that it writes to, and cannot be replaced by an operator "
                "without writes"
            )
        bases: list[StorageState] = []
        mutated_arguments: dict[str, Any] = {}
        for p, x in zip(parameters, values, strict=True):
            if p.written:
                mutated_arguments |= self._mutated_arguments(f"_{p.name}", x, bases)
        pairs = zip(parameters, values, strict=True)
        named_arguments = {p.name: readable(p.kind, x) for p, x in pairs if not p.written}
        named_arguments |= mutated_arguments | {"_all_bases": [base.value for base in bases]}
        arguments = self.node_of(named_arguments)
        with self.paused():
            output = self.run_on_fakes(op, values)
            left = [fake_for(x.array, device_of(x), x.requires_grad) for x in (b.value for b in bases)]
        results = (*(output if isinstance(output, tuple | list) else (output,)), *left)
        target = overload_named(op.name, op.overload)
        self._bind(self._call(auto_functionalized_op, (target,), results, arguments), results)
        for base, value in zip(bases, left, strict=True):
            base.value = value
            base.writes += 1
        return output

    def _mutated_arguments(self, name: str, x: Any, bases: list[StorageState]) -> dict[str, Any]:
        """Return the `auto_functionalized_v2` arguments that describe the mutated argument `x`.

        Append the storages of `x` to `bases`, unless `bases` contains them already.
        """
        if isinstance(x, list):
            described_arguments = {f"{name}_length": len(x)}
            for k, y in enumerate(x):
                described_arguments |= self._mutated_arguments(f"{name}_{k}", y, bases)
            return described_arguments
        if x is None:
            return {f"{name}_base_index": None}
        alias = self.alias_of(x)
        base = alias.base
        if not any(base is existing for existing in bases):
            bases.append(base)
        value = base.value
        for view in alias.views:
            value = self.unrecorded(self.run_on_fakes, view.op, [value, *view.arguments])
            value = value if view.index is None else value[view.index]
        index = next(i for i, existing in enumerate(bases) if existing is base)
        return describe_view(name, index, value, base.value, self._are_equal)

    def _are_equal(self, n: Any, m: Any) -> bool:
        left, right = (x.node.expr if isinstance(x, SymNumber) else to_sympy(x) for x in (n, m))
        return self.environment.is_provably_equal(left, right)

    def _note_views(self, op: Any, values: list[Any], result: Any) -> None:
        """If a result is a view of an argument, record the result as an alias of the argument's storage."""
        returns = op.signature.returns
        source = returns[0].view_of if len(returns) == 1 else -1
        if source < 0:
            return
        x = values[source]
        alias = self.alias_of(x)
        arguments = tuple(
            readable(p.kind, v) for p, v in zip(op.signature.parameters[1:], values[1:], strict=True)
        )
        for index, item in enumerate(result) if isinstance(result, list | tuple) else ((None, result),):
            if item is not x:
                views = (*alias.views, View(op, arguments, index))
                self._aliases[id(item)] = item, TensorAlias(alias.base, views, alias.synced_writes)


def _without_write(op: Any) -> Any:
    """Return the functional variant of a mutating operator, such as `add` of `add_`."""
    base = IN_PLACE_SIGNS.get(op.name) or op.name.removesuffix("_")
    overload = op.overload
    if any(p.written and p.keyword_only for p in op.signature.parameters):
        base = op.name
        overload = {"out": ""}.get(overload, overload.removesuffix("_out"))
    named = [
        registry.operator(f"{base}_functional"),
        registry.operator(f"{base}.{overload}" if overload else base),
    ]
    named += [
        other for other in registry.lookup(base) if not any(p.written for p in other.signature.parameters)
    ]
    others = [other for other in named if other is not None]
    signature = {(p.name, p.kind) for p in op.signature.parameters if not (p.written and p.keyword_only)}
    for other in others:
        if {(p.name, p.kind) for p in other.signature.parameters} == signature:
            return other
    for other in others:
        if {p.name for p in other.signature.parameters} <= {name for name, _ in signature}:
            return other
    raise RuntimeError(
        f"{op.key} writes to an argument, and has no functional variant that returns the result"
    )


def _composite_function(op: Any) -> Any:
    """Return the CompositeImplicitAutograd kernel of a user-defined operator, or None."""
    kernel = op.record.kernel if op.record is not None and op.record.of_program else None
    return getattr(kernel, "by_key", {}).get("CompositeImplicitAutograd")
