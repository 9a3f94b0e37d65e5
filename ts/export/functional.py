"""Records a program without writes: what wrote a tensor makes a new one, which stands for it from then on.

    y = x[0]; y.add_(1); x.sum()

    select(x, 0); add(select, 1); select_scatter(x, add, 0, 0); sum(select_scatter)

A tensor is a base or a view of one.  Where a view is written, its base is what its views, backwards, make of
the new value (`unview`); whoever reads another view of that base afterwards gets it from the new base.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.export.decompositions import scatters, table
from ts.export.environment import Environment, Undecided
from ts.export.recorder import Recorder, _readable
from ts.fx.node import Node
from ts.ops import registry
from ts.ops.namespace import overload_named


@dataclass
class Base:
    """Memory: the tensor that holds its value now, and how often it was written."""

    value: Tensor
    writes: int = 0


@dataclass(frozen=True)
class View:
    """How a view was made: which operator, with what beside its tensor, which of several results."""

    op: Any
    arguments: tuple[Any, ...]
    index: int | None

    def of(self, x: Tensor) -> Tensor:
        """The view of another tensor."""
        found = overload_named(self.op.name, self.op.overload)(x, *self.arguments)
        return found if self.index is None else found[self.index]  # type: ignore[no-any-return]


@dataclass
class Place:
    """Where a tensor lies: in a base, by views; and which write of the base it has seen."""

    base: Base
    views: tuple[View, ...] = ()
    seen: int = 0


class FunctionalRecorder(Recorder):
    """A recording without writes, of operators that no decomposition is known for."""

    def __init__(self, environment: Environment, decompositions: table.Table) -> None:
        super().__init__(environment)
        self._decompositions = decompositions
        self.origin: Node | None = None  # the node that runs again: where in the program it stands
        self._places: dict[int, tuple[Tensor, Place]] = {}  # by id

    def _about(self) -> dict[str, Any]:
        """What is noted of a node: what was noted of the one that runs again."""
        known = self.origin.meta if self.origin is not None else {}
        return {k: known[k] for k in ("stack_trace", "nn_module_stack") if k in known}

    # ---- numbers: those that nodes are called with get nodes, and no others

    def arithmetic(self, function: Any, arguments: tuple[Any, ...], result: Any) -> None:
        """A symbol that a decomposition computed."""

    def numel(self, x: Tensor) -> Any:
        """x.numel()"""
        return self.unrecorded(lambda: x.array.size)

    # ---- reading

    def _tensor_node(self, x: Tensor) -> Node:
        place = self.place_of(x)
        if place.seen != place.base.writes:
            place.seen = place.base.writes
            value = place.base.value
            with self.recording():
                for view in place.views:
                    value = view.of(value)
            self._stand(x, value)
        return super()._tensor_node(x)

    def place_of(self, x: Tensor) -> Place:
        """Where a tensor lies."""
        found = self._places.get(id(x))
        if found is None:
            found = self._places[id(x)] = x, Place(Base(x))
        return found[1]

    def _stand(self, x: Tensor, value: Tensor) -> None:
        """Let the node of `value` be that of `x`."""
        self._tensors[id(x)] = x, super()._tensor_node(value)

    def guessing(self) -> AbstractContextManager[None]:
        """Within it, what is asked of symbols is what holds in the example: how tensors lie."""
        return self.environment.guessing()

    # ---- writing

    def write(self, x: Tensor, value: Tensor) -> None:
        """Let `x` have this value, and so whatever shares memory with it."""
        with self.recording():
            self._write(x, value)

    def _write(self, x: Tensor, value: Tensor) -> None:
        if value.dtype is not x.dtype:
            value = ts.ops.aten._to_copy(value, dtype=x.dtype)
        place = self.place_of(x)
        befores = [place.base.value]
        for view in place.views[:-1]:
            befores.append(view.of(befores[-1]))
        for view, before in zip(reversed(place.views), reversed(befores), strict=False):
            value = scatters.unview(view.op, before, value, view.arguments, view.index)
        base = place.base
        base.value = value
        base.writes += 1
        if not place.views:
            place.seen = base.writes
            self._stand(x, value)

    def written(self, x: Tensor) -> bool:
        """Whether an input was written."""
        return self.place_of(x).base.writes > 0

    # ---- operators

    def run(self, op: Any, values: list[Any]) -> Any:
        """The result of an operator, by its decomposition if there is one, without a write."""
        values = [self._with_fakes(x) for x in values]
        written = [i for i, p in enumerate(op.signature.parameters) if p.written]
        if written and not (len(written) == 1 and op.key in self._decompositions):
            return self._written(op, values, written)
        decomposition = self._decompositions.get(op.key)
        if decomposition is not None:
            found = self._decomposed(decomposition, op, values)
            if found is not NotImplemented:
                return found
        result = super().run(op, values)
        self._note_views(op, values, result)
        return result

    def _decomposed(self, decomposition: Callable[..., Any], op: Any, values: list[Any]) -> Any:
        positional, named = [], {}
        for p, x in zip(op.signature.parameters, values, strict=True):
            if p.keyword_only:
                named[p.name] = _readable(p.kind, x)
            else:
                positional.append(_readable(p.kind, x))
        try:
            with self.recording():
                return decomposition(*positional, **named)
        except Undecided:  # it goes one way for some sizes, and another for others: the operator stays
            return NotImplemented

    def _written(self, op: Any, values: list[Any], written: list[int]) -> Any:
        """Run the operator of the same name that writes nothing, and let its results be what is written."""
        functional = _without_write(op)
        given = {p.name: x for p, x in zip(op.signature.parameters, values, strict=True)}
        arguments = [given[p.name] for p in functional.signature.parameters]
        found = self.run(functional, arguments)
        results = list(found) if isinstance(found, tuple | list) else [found]
        targets = [values[i] for i in written]
        for x, value in zip(targets, results[-len(targets) :], strict=True):
            self.write(x, value)
        return targets[0] if len(targets) == 1 else tuple(targets)

    def _note_views(self, op: Any, values: list[Any], result: Any) -> None:
        """Let results that are views of an argument lie where it lies."""
        returns = op.signature.returns
        source = returns[0].view_of if len(returns) == 1 else -1
        if source < 0:
            return
        x = values[source]
        place = self.place_of(x)
        arguments = tuple(
            _readable(p.kind, v) for p, v in zip(op.signature.parameters[1:], values[1:], strict=True)
        )
        for index, item in enumerate(result) if isinstance(result, list | tuple) else ((None, result),):
            if item is not x:
                views = (*place.views, View(op, arguments, index))
                self._places[id(item)] = item, Place(place.base, views, place.seen)


def _without_write(op: Any) -> Any:
    """The operator that gives what this one writes."""
    base = op.name.removesuffix("_")
    overload = op.overload
    if any(p.written and p.keyword_only for p in op.signature.parameters):
        base = op.name
        overload = {"out": ""}.get(overload, overload.removesuffix("_out"))
    named = [registry.operator(f"{base}.{overload}" if overload else base)]
    named += [
        other for other in registry.lookup(base) if not any(p.written for p in other.signature.parameters)
    ]
    wanted = {p.name for p in op.signature.parameters if not (p.written and p.keyword_only)}
    for other in named:
        if other is not None and {p.name for p in other.signature.parameters} <= wanted:
            return other
    raise RuntimeError(f"{op.key} writes, and no operator is known that gives what it writes")
