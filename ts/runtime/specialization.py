"""Function specialization (type specialization): code for kinds of arguments, compiled at the first call.

A function is specialized if its graph branches on properties of its arguments (`x.dim()`, `b is None`). The
example shows a function, and three calls of it:

    def f(x, b: Optional[Tensor]):          f(ones(2, 3), None)      compiles for (x float32[2], b None)
        if x.dim() == 1: ...                f(ones(4, 5), None)      runs that code
        if b is not None: ...               f(ones(3), None)         compiles another specialization

The instruction ENTER_SPECIALIZATION selects the code from the function's `Specializations`. General code runs
if the maximum number of specializations is reached. It also runs if the properties do not simplify the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ts._core.dispatch.profiler_recorder import Stage
from ts._core.tensor.tensor import Tensor
from ts._core.vm.specializations import (
    MAX_GUARDED_ARGUMENTS,
    MAX_SPECIALIZATIONS_PER_FUNCTION,
    Specializations,
)
from ts.bytecode.opcodes import NUMBER
from ts.bytecode.serialized_code import SerializedCode
from ts.runtime.gc_pause import gc_disabled
from ts.runtime.graph_variants import (
    CompiledCode,
    GraphVariant,
    copy_unoptimized,
    load_or_compile,
    lower_temporary_graph,
    prepare_graph,
    run_early_passes,
    run_late_passes,
    within_policy,
)
from ts.runtime.python_frame_stack import preallocate_frames

if TYPE_CHECKING:
    from ts.ir.graph import Graph, Node
    from ts.ir.types import Type
    from ts.runtime.code_cache import Entry
    from ts.runtime.function import ScriptFunction

MAX_SPECIALIZATIONS: Final = MAX_SPECIALIZATIONS_PER_FUNCTION
_ALL: Final = "all"  # cache key of the general code


class Specializer:
    """Compiler of the specializations of a function."""

    def __init__(self, function: ScriptFunction, variant: GraphVariant, graph: Graph | None = None) -> None:
        self._function = function
        self._variant = variant
        self._base_graph = graph  # graph before specialization, or None if the program is from the cache
        # argument signatures of the specializations, in the order of compilation
        self.kinds: list[ArgumentSignature] = []

    def entry_program(self, tested_arguments: Sequence[int]) -> SerializedCode:
        """Return the program that selects a specialization by the arguments at indices `tested_arguments`.

        If there are more than `MAX_GUARDED_ARGUMENTS` such arguments, only the first ones are tested.
        Branches that depend on the other arguments remain in the specializations.
        """
        from ts.bytecode.typespec import register_class, result_spec, type_spec

        graph = self._unspecialized_graph()
        specs = tuple(type_spec(value.type()) for value in graph.inputs())
        plans = self.plans(specs, result_spec(graph), tested_arguments[:MAX_GUARDED_ARGUMENTS])
        classes = "".join(register_class(value.type()) for value in graph.inputs())
        rows = [(NUMBER["ENTER_SPECIALIZATION"], 0, 0, 0)]
        name = self._function.name
        return SerializedCode(name, rows, classes, specs, (), (), (), (plans,), (), (), (), plans.result)

    def plans(self, specs: tuple[Any, ...], result: Any, tested_arguments: Sequence[int]) -> Specializations:
        """Return a new, empty table of specializations for the argument types `specs` and type `result`."""
        self._tested_arguments = list(tested_arguments)
        return Specializations(
            self._function.name, specs, result, self._tested_arguments, self.make, self.make_general
        )

    def make(self, values: Sequence[Any]) -> Any:
        """Return code specialized to the properties of `values`, or None if they simplify nothing."""
        kind = ArgumentSignature.of(zip(self._tested_arguments, values, strict=True))
        self.kinds.append(kind)
        try:
            return self._code(kind.text, lambda: self._program(kind))
        except _NothingToSpecialize:
            return None

    def make_general(self) -> Any:
        """Return the general code, for arguments without a specialization."""
        return self._code(_ALL, lambda: self._program(None))

    def graph(self, kind: ArgumentSignature | None) -> Graph:
        """Return a copy of the optimized graph for signature `kind`, or for all arguments if None."""
        graph = self._begin()
        if kind is not None:
            kind.specialize(graph)
        run_late_passes(graph, self._variant)
        return graph

    def base_graph_for(self, kind: ArgumentSignature | None) -> tuple[Graph, list[Node]]:
        """Return a copy of the unoptimized graph for signature `kind`.

        Also return the type queries that `kind` decides.
        """
        from ts.passes.specialize_to_arguments import type_queries

        graph = self._begin()
        branches = list(type_queries(graph))
        if kind is not None:
            kind.specialize(graph)
        return graph, [node for node in branches if not node.in_block() or not node.has_uses()]

    def last_execution(self, plans: Specializations) -> tuple[Graph, Any]:
        """Return the graph, annotated with tensor types, and the code of the specialization that ran last."""
        from ts.passes.shape_analysis import rank_types  # imported here, as it is needed for inspection only

        index = plans.chosen_specialization
        if index is None:
            return self.graph(None), plans.general_code
        kind = self.kinds[index]
        return rank_types(self.graph(kind), kind.tensors), plans.specialized_codes[index][0]

    def _code(self, kind: str, make: Callable[[], CompiledCode]) -> Any:
        with gc_disabled():
            return preallocate_frames(load_or_compile, self._function, self._entry(kind), make)

    def _entry(self, kind: str) -> Entry | None:
        """Return the cache file for a specialization's code, or None for uncached specializations."""
        function = self._function
        if function.unit is None and function.digest is None:
            return None
        # imported here: only functions of archives and Python functions need it
        from ts.runtime.code_cache import entry_of

        prepare = partial(prepare_graph, policy=function.policy)
        return entry_of(function, prepare, f"{self._variant.value}({kind})", None)

    def _program(self, kind: ArgumentSignature | None) -> CompiledCode:
        function = self._function

        def run() -> CompiledCode:
            graph = self._begin()
            with Stage("compile: optimise", function.name):
                if kind is not None and not kind.specialize(graph):
                    graph.free()
                    raise _NothingToSpecialize
                run_late_passes(graph, self._variant)
            return lower_temporary_graph(graph, function.name, function.policy, self._variant)

        return within_policy(run, function.as_compiled(), function.name, function.policy)

    def _begin(self) -> Graph:
        """Return a copy of the graph before specialization."""
        return self._unspecialized_graph().copy()

    def _unspecialized_graph(self) -> Graph:
        """Return the graph before specialization, which the caller must not change."""
        if self._base_graph is None:
            graph = copy_unoptimized(self._function.as_compiled())
            run_early_passes(graph)
            self._base_graph = graph
        return self._base_graph


def specializer_of(plans: Specializations) -> Specializer:
    """Return the specializer that compiles the specializations in the table `plans`."""
    made_by = plans.make.__self__  # type: ignore[attr-defined]
    assert isinstance(made_by, Specializer)
    return made_by


def codes_with_descriptions(plans: Specializations, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield (description of the arguments, code) for the compiled specializations and the general code."""
    for (code, _), kind in zip(plans.specialized_codes, specializer_of(plans).kinds, strict=False):
        if code is not None:
            yield kind.describe(names), code
    everything = specializer_of(plans).make_general() if plans.general_code is None else plans.general_code
    yield "all other arguments" if plans.specialized_codes else "all arguments", everything


class _NothingToSpecialize(Exception):
    """Raised if the properties of the arguments simplify nothing in the graph."""


class ArgumentSignature:
    """Signature of arguments: their types, with dtype, rank, device and requires_grad of tensors."""

    def __init__(self, types: Mapping[int, Any], text: str) -> None:
        self._types = types  # argument index -> type, or None for objects
        self.text = text  # text form, equal in all processes for equal signatures

    @classmethod
    def of(cls, values: Iterable[tuple[int, Any]]) -> ArgumentSignature:
        """Return the signature of the given (index, argument) pairs."""
        types = {i: _type_of(value) for i, value in values}
        return cls(types, ", ".join(f"{i}: {'object' if t is None else t}" for i, t in types.items()))

    def specialize(self, graph: Graph) -> bool:
        """Specialize a graph for this signature. Return True if this simplified the graph."""
        from ts.passes.specialize_to_arguments import specialize_to_arguments

        known_types = {}
        for i, type in self._types.items():
            declared = graph.inputs()[i].type()
            if type is None or type.kind() not in ("TensorType", "NoneType"):
                inner = getattr(declared, "elem", None) if declared.kind() == "OptionalType" else None
                type = inner or type
            if type is not None:
                known_types[i] = type
        return specialize_to_arguments(graph, known_types)

    @property
    def tensors(self) -> dict[int, Type]:
        """Types of the arguments that are tensors, by argument index."""
        return {i: t for i, t in self._types.items() if t is not None and t.kind() == "TensorType"}

    def describe(self, names: Sequence[str]) -> str:
        """Return a description of the arguments for users: `x float32[2], b None`."""
        return ", ".join(f"{names[i]} {_describe_type(type)}" for i, type in self._types.items())


def _type_of(value: Any) -> Type | None:
    from ts.ir.types import BOOL, FLOAT, INT, NONE, TensorType

    if isinstance(value, Tensor):
        sizes = [None] * value.dim()
        return TensorType(value.dtype.code, sizes, None, str(value.device), bool(value.requires_grad))
    if value is None:
        return NONE
    return {bool: BOOL, int: INT, float: FLOAT}.get(type(value))


def _describe_type(type: Any) -> str:
    """Return dtype and rank of a tensor, and device and requires_grad if they are not the defaults."""
    from ts.dtypes import BY_CODE

    if type is None:
        return "given"
    if type.kind() != "TensorType":
        return str(type.str()).removesuffix("Type")
    words = [f"{BY_CODE[type.scalar_type]}".removeprefix("torch.") + f"[{type.dim()}]"]
    if str(type.device()) != "cpu":
        words.append(f"on {type.device()}")
    if type.requires_grad():
        words.append("with gradient")
    return " ".join(words)
