"""Plans of a function: its code for arguments of one kind, made by the first call with such arguments.

In: a function whose graph asks what its arguments are (`x.dim()`, `x.dtype == ...`, `b is None`).  Out: its
`Plans`, which ENTER_PLAN enters, and the code of each.

    def f(x, b: Optional[Tensor]):          f(ones(2, 3), None)      makes the plan for (x float32[2], b None)
        if x.dim() == 1: ...                f(ones(4, 5), None)      runs it
        if b is not None: ...               f(ones(3), None)         makes another

There is no code for all arguments until some come that have no plan: plans are few (`Plans.made`), and where
the answers to all questions change nothing in the graph, there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ts._core.dispatch.recorder import Stage
from ts._core.tensor.tensor import Tensor
from ts._core.vm.plan import MOST_OF_FUNCTION, Plans
from ts.bytecode.opcodes import NUMBER
from ts.bytecode.program import Program
from ts.runtime.forms import (
    Form,
    Made,
    begin_forming,
    finish_forming,
    kept_or_made,
    lowered,
    prepare_graph,
    unoptimized,
    within_terms,
)
from ts.runtime.frames import with_room
from ts.runtime.garbage import no_collection

if TYPE_CHECKING:
    from ts.ir.graph import Graph, Node
    from ts.ir.types import Type
    from ts.runtime.code_cache import Entry
    from ts.runtime.function import ScriptFunction

MOST: Final = MOST_OF_FUNCTION
_ALL: Final = "all"  # the kind of arguments of the code for all of them


class Specializer:
    """Makes the codes of a function's plans."""

    def __init__(self, function: ScriptFunction, form: Form, graph: Graph | None = None) -> None:
        self._function = function
        self._form = form
        self._begun = graph  # what all plans begin with; None where the code that enters them was kept
        self.kinds: list[Kind] = []  # of each plan, in their order

    def entrance(self, asked: Sequence[int]) -> Program:
        """The code of the function: it enters plans by these arguments."""
        from ts.bytecode.typespec import register_class, result_spec, type_spec

        graph = self._begin()
        specs = tuple(type_spec(value.type()) for value in graph.inputs())
        plans = self.plans(specs, result_spec(graph), asked)
        classes = "".join(register_class(value.type()) for value in graph.inputs())
        rows = [(NUMBER["ENTER_PLAN"], 0, 0, 0)]
        name = self._function.name
        return Program(name, rows, classes, specs, (), (), (), (plans,), (), (), (), plans.result)

    def plans(self, specs: tuple[Any, ...], result: Any, asked: Sequence[int]) -> Plans:
        """The plans, of which there are none yet."""
        self._asked = list(asked)
        return Plans(self._function.name, specs, result, self._asked, self.make, self.make_general)

    def make(self, values: Sequence[Any]) -> Any:
        """The code for arguments like these; None where it would be the one for all."""
        kind = Kind.of(zip(self._asked, values, strict=True))
        self.kinds.append(kind)
        try:
            return self._code(kind.text, lambda: self._program(kind))
        except _Undecided:
            return None

    def make_general(self) -> Any:
        """The code for all arguments."""
        return self._code(_ALL, lambda: self._program(None))

    def graph(self, kind: Kind | None) -> Graph:
        """What runs for arguments of a kind, or for all: a copy."""
        graph = self._begin()
        if kind is not None:
            kind.decide_in(graph)
        finish_forming(graph, self._form)
        return graph

    def begun_for(self, kind: Kind | None) -> tuple[Graph, list[Node]]:
        """A copy of what plans begin with, for arguments of a kind, and what is decided in it."""
        from ts.passes.specialize_to_arguments import questions

        graph = self._begin()
        asked = list(questions(graph))
        if kind is not None:
            kind.decide_in(graph)
        return graph, [node for node in asked if not node.in_block() or not node.has_uses()]

    def graph_of_last(self, plans: Plans) -> Graph:
        """What ran last, with the types that its tensors had."""
        from ts.passes.shape_analysis import rank_types  # for who looks at it

        number = plans.chosen_plan
        if number is None:
            return self.graph(None)
        kind = self.kinds[number]
        return rank_types(self.graph(kind), kind.tensors)

    def _code(self, kind: str, make: Callable[[], Made]) -> Any:
        with no_collection():
            return with_room(kept_or_made, self._function, self._entry(kind), make)

    def _entry(self, kind: str) -> Entry | None:
        """Where the code for a kind of arguments is kept, if it is."""
        function = self._function
        if function.unit is None and function.digest is None:
            return None
        from ts.runtime.code_cache import entry_of  # only archives and functions of Python need it

        prepare = partial(prepare_graph, terms=function.terms)
        return entry_of(function, prepare, f"{self._form.value}({kind})", None)

    def _program(self, kind: Kind | None) -> Made:
        function = self._function

        def run() -> Made:
            graph = self._begin()
            with Stage("compile: optimise", function.name):
                if kind is not None and not kind.decide_in(graph):
                    raise _Undecided
                finish_forming(graph, self._form)
            return lowered(graph, function.name, function.terms, self._form)

        return within_terms(run, function.as_compiled(), function.name, function.terms)

    def _begin(self) -> Graph:
        """A copy of what all plans begin with."""
        if self._begun is None:
            graph = unoptimized(self._function.as_compiled())
            begin_forming(graph)
            self._begun = graph
        return self._begun.copy()


def specializer_of(plans: Plans) -> Specializer:
    """Who makes the codes of these plans."""
    made_by = plans.make.__self__  # type: ignore[attr-defined]
    assert isinstance(made_by, Specializer)
    return made_by


def codes_of(plans: Plans, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The codes that calls have made so far, and that for all arguments, each with what it is for."""
    for (code, _), kind in zip(plans.made, specializer_of(plans).kinds, strict=False):
        if code is not None:
            yield kind.described(names), code
    everything = specializer_of(plans).make_general() if plans.general_code is None else plans.general_code
    yield "all other arguments" if plans.made else "all arguments", everything


class _Undecided(Exception):
    """What is known of the arguments changes nothing in the graph."""


class Kind:
    """What arguments are: dtype, rank, device and gradient of tensors; None; numbers."""

    def __init__(self, found: Mapping[int, Any], text: str) -> None:
        self._found = found  # by number: a type, None where it is some object
        self.text = text  # the same for the same kind, in every process

    @classmethod
    def of(cls, values: Iterable[tuple[int, Any]]) -> Kind:
        """The kind of these arguments, by their numbers."""
        found = {i: _type_of(value) for i, value in values}
        return cls(found, ", ".join(f"{i}: {'object' if t is None else t}" for i, t in found.items()))

    def decide_in(self, graph: Graph) -> bool:
        """Decide in a graph what follows from it; whether that was anything."""
        from ts.passes.specialize_to_arguments import specialize_to_arguments

        known = {}
        for i, type in self._found.items():
            declared = graph.inputs()[i].type()
            if type is None or type.kind() not in ("TensorType", "NoneType"):
                inner = getattr(declared, "elem", None) if declared.kind() == "OptionalType" else None
                type = inner or type
            if type is not None:
                known[i] = type
        return specialize_to_arguments(graph, known)

    @property
    def tensors(self) -> dict[int, Type]:
        """The types of tensors among them, by number."""
        return {i: t for i, t in self._found.items() if t is not None and t.kind() == "TensorType"}

    def described(self, names: Sequence[str]) -> str:
        """For a person: `x float32[2], b None`."""
        return ", ".join(f"{names[i]} {_described(type)}" for i, type in self._found.items())


def _type_of(value: Any) -> Type | None:
    from ts.ir.types import BOOL, FLOAT, INT, NONE, TensorType

    if isinstance(value, Tensor):
        sizes = [None] * value.dim()
        return TensorType(value.dtype.code, sizes, None, str(value.device), bool(value.requires_grad))
    if value is None:
        return NONE
    return {bool: BOOL, int: INT, float: FLOAT}.get(type(value))


def _described(type: Any) -> str:
    """Dtype and number of dimensions of a tensor, and what is not as usual."""
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
