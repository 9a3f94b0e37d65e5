"""Running an exported program: the arguments are checked against what the program was exported for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.export.signature import InputKind, OutputKind
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter
from ts.utils import _pytree as pytree

if TYPE_CHECKING:
    from ts.export.program import ExportedProgram


_WRITES = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION)


class Runner:
    """Runs a program's graph: the first time by its Python code, then compiled, where the compiler can."""

    def __init__(self, program: ExportedProgram) -> None:
        self.program = program
        self.code = ""  # of the graph that was compiled
        self.calls = 0
        self.compiled: Callable[..., list[Any]] | None = None

    def __call__(self, values: list[Any]) -> list[Any]:
        module = self.program.graph_module
        if module.code != self.code:
            self.code, self.calls, self.compiled = module.code, 0, None
        self.calls += 1
        if self.calls == 2:
            self.compiled = self._compiled()
        return list(module(*values)) if self.compiled is None else self.compiled(*values)

    def _compiled(self) -> Callable[..., list[Any]] | None:
        from ts.errors import CompilationError
        from ts.export.lowering import Unsupported, lowered

        try:
            return lowered(self.program.graph_module)
        except (Unsupported, CompilationError):
            return None


class UnliftedModule(Module):
    """A program whose state is its own attributes again."""

    def __init__(self, program: ExportedProgram, check_guards: bool) -> None:
        super().__init__()
        self.__dict__["_program"] = program
        self.__dict__["_checks"] = check_guards
        self.__dict__["_runner"] = Runner(program)
        signature = program.graph_signature
        for name in signature.parameters:
            _set(self, name, program.state_dict[name])
        hidden = set(signature.non_persistent_buffers)
        for name in signature.buffers:
            _set(
                self,
                name,
                (program.constants if name in hidden else program.state_dict)[name],
                name not in hidden,
            )
        self.__dict__["_flat"] = _count_if_flat(program.call_spec[0])
        self.__dict__["_state"] = [*self._places(program)]
        kinds = [s for s in signature.output_specs if s.kind in _WRITES]
        self.__dict__["_written"] = kinds

    def _places(self, program: ExportedProgram) -> Iterator[tuple[dict[str, Any], str]]:
        """Where what the graph takes before the arguments is found: a dictionary, and the key in it."""
        for spec in program.graph_signature.input_specs:
            name = str(spec.target)
            if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
                path, _, last = name.rpartition(".")
                owner = self.get_submodule(path)
                yield owner._parameters if last in owner._parameters else owner._buffers, last
            elif spec.kind is not InputKind.USER_INPUT:
                yield program.constants, name

    @property
    def graph(self) -> Any:
        """The graph that runs."""
        return self._program.graph

    @property
    def code(self) -> str:
        """Its text."""
        return self._program.graph_module.code  # type: ignore[no-any-return]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        program = self._program
        in_spec, out_spec = program.call_spec
        if len(args) == self._flat and not kwargs and all(isinstance(x, Tensor) for x in args):
            leaves = list(args)
        else:
            leaves = _flattened(args, kwargs, in_spec)
        if self._checks:
            for guard in program._guards:
                guard(leaves)
        values = [table[name] for table, name in self._state] + leaves
        found = self._runner(values)
        written = self._written
        if written:
            _check_apart(program, values)
            places = program.places_of_inputs(values)
            with ts.no_grad():
                for spec, value in zip(written, found, strict=False):
                    places[spec.kind is OutputKind.USER_INPUT_MUTATION, spec.target].copy_(value)
        return pytree.tree_unflatten(found[len(written) :], out_spec)


def _check_apart(program: ExportedProgram, values: list[Any]) -> None:
    """RuntimeError where what is written without a write lies in the memory of another input."""
    written = {s.target for s in program.graph_signature.output_specs if s.kind in _WRITES}
    seen: dict[int, bool] = {}  # memory by its address: whether it is written
    for spec, x in zip(program.graph_signature.input_specs, values, strict=True):
        if not isinstance(x, Tensor) or x.numel() == 0:
            continue
        name = spec.arg.name if spec.kind is InputKind.USER_INPUT else spec.target
        at, writes = x.untyped_storage().data_ptr(), name in written
        if at in seen and (writes or seen[at]):
            raise RuntimeError(
                f"the program writes to an input whose memory {spec.arg.name} shares: after "
                "run_decompositions there are no writes that the other would see. Run the program as it was"
            )
        seen[at] = seen.get(at, False) or writes


def _count_if_flat(in_spec: Any) -> int:
    """How many arguments there are, where they are leaves by position; -1 for other trees."""
    args, kwargs = in_spec.children()
    flat = args.type is tuple and all(child.is_leaf() for child in args.children())
    return args.num_children if flat and kwargs.num_children == 0 else -1


def _flattened(args: tuple[Any, ...], kwargs: dict[str, Any], in_spec: Any) -> list[Any]:
    """The leaves of the arguments; ValueError where their tree is another."""
    names = in_spec.child(1).context if in_spec.num_children > 1 else []
    if set(names) == set(kwargs):
        kwargs = {name: kwargs[name] for name in names}
    leaves, spec = pytree.tree_flatten((args, kwargs))
    if spec != in_spec:
        args, kwargs = _in_order((args, kwargs), in_spec)
        leaves, spec = pytree.tree_flatten((args, kwargs))
    if spec != in_spec:
        raise ValueError(
            "Trying to flatten user inputs with exported input tree spec: \n"
            f"{in_spec}\nbut actually got inputs with tree spec of: \n{spec}.\n"
            "Please check that the inputs have the same number and type of args and kwargs as the ones you "
            "used when tracing."
        )
    return leaves


def _in_order(tree: Any, spec: Any) -> Any:
    """A tree with the keys of its dictionaries in the order that they have in a specification."""
    children = [spec.child(i) for i in range(spec.num_children)]
    if spec.type is dict and isinstance(tree, dict) and set(tree) == set(spec.context):
        return {k: _in_order(tree[k], child) for k, child in zip(spec.context, children, strict=True)}
    if spec.type in (list, tuple) and type(tree) is spec.type and len(tree) == len(children):
        return spec.type(_in_order(x, child) for x, child in zip(tree, children, strict=True))
    return tree


def _set(module: Module, name: str, value: Any, persistent: bool = True) -> None:
    """Let a module have a parameter or buffer under a name with dots."""
    *path, last = name.split(".")
    for part in path:
        if part not in module._modules:
            module.add_module(part, Module())
        module = module._modules[part]  # type: ignore[assignment]
    if isinstance(value, Parameter):
        module.register_parameter(last, value)
    elif isinstance(value, Tensor):
        module.register_buffer(last, value, persistent)
