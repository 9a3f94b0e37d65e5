"""Running an exported program: the arguments are checked against what the program was exported for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.export.signature import OutputKind
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter
from ts.utils import _pytree as pytree

if TYPE_CHECKING:
    from ts.export.program import ExportedProgram


_WRITES = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION)


class UnliftedModule(Module):
    """A program whose state is its own attributes again."""

    def __init__(self, program: ExportedProgram, check_guards: bool) -> None:
        super().__init__()
        self.__dict__["_program"] = program
        self.__dict__["_checks"] = check_guards
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
        leaves = _flattened(args, kwargs, in_spec)
        if self._checks:
            for guard in program._guards:
                guard(leaves)
        state = program._lifted()
        found = list(program.graph_module(*state, *leaves))
        written = [s for s in program.graph_signature.output_specs if s.kind in _WRITES]
        if written:
            places = program.places_of_inputs([*state, *leaves])
            with ts.no_grad():
                for spec, value in zip(written, found, strict=False):
                    places[spec.kind is OutputKind.USER_INPUT_MUTATION, spec.target].copy_(value)
        return pytree.tree_unflatten(found[len(written) :], out_spec)


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
