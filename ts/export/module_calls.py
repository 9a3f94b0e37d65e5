"""Module call graph and module stack (`nn_module_stack` metadata), from recorded submodule calls.

Each line shows an entry of the module call graph:

    ModuleCallEntry("encoder", None)                the first call of the submodule `encoder`
    ModuleCallEntry("encoder@1", signature)         the second call, with its inputs and outputs
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ts._core.tensor.sym_types import SymBool, SymFloat, SymInt
from ts._core.tensor.tensor import Tensor
from ts.export.signature import (
    ArgumentSpec,
    ConstantArgument,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)
from ts.module_names import torch_name
from ts.nn.modules.module import Module
from ts.utils import _pytree as pytree

if TYPE_CHECKING:
    from ts.export.tracer import ExportTracer


@dataclasses.dataclass
class ModuleCallSignature:
    """Signature of a module call: input and output nodes, and their pytree specs."""

    inputs: list[ArgumentSpec]
    outputs: list[ArgumentSpec]
    in_spec: Any
    out_spec: Any
    forward_arg_names: list[str] | None = None

    def renamed(self, name: Callable[[str], str]) -> ModuleCallSignature:
        """Return the signature with each node name replaced by `name(node name)`."""

        def again(argument: ArgumentSpec) -> ArgumentSpec:
            if isinstance(argument, ConstantArgument):
                return argument
            return dataclasses.replace(argument, name=name(argument.name))

        return dataclasses.replace(
            self, inputs=list(map(again, self.inputs)), outputs=list(map(again, self.outputs))
        )


@dataclasses.dataclass
class ModuleCallEntry:
    """Entry of the module call graph: path of the module, and signature of a call that is preserved.

    `encoder@1` is the path of the second call of `encoder`, `encoder@2` that of the third call.
    """

    fqn: str
    signature: ModuleCallSignature | None = None


_ARGUMENTS: dict[type, Any] = {
    Tensor: TensorArgument,
    SymInt: SymIntArgument,
    SymFloat: SymFloatArgument,
    SymBool: SymBoolArgument,
}


def argument(x: Any, node: Any) -> ArgumentSpec:
    """Return the argument spec of `x`.

    `node` is the node of `x` in the graph, or the value of `x` if `x` is a constant.
    """
    for kind, spec_class in _ARGUMENTS.items():
        if isinstance(x, kind) and hasattr(node, "name"):
            return spec_class(node.name)  # type: ignore[no-any-return]
    return ConstantArgument("", node)


class ModuleCalls:
    """Records the calls of submodules during an export."""

    def __init__(self, root: Module, preserved: Iterable[str] = ()) -> None:
        self.preserved = frozenset(preserved)
        for name in self.preserved:
            root.get_submodule(name)  # raises AttributeError if `name` is unknown
        self.paths: dict[int, str] = {}  # id of a module -> its path, or its first path if it has several
        for name, module in root.named_modules():
            self.paths.setdefault(id(module), name)
        self.root = root
        # running calls: key in `nn_module_stack` -> (path, class) of the module
        self.stack: dict[str, tuple[str, str]] = {}
        self.counts: Counter[str] = Counter()
        # path of a module, with the suffix `@k` for call number k > 0 -> signature of the call
        self.signatures: dict[str, ModuleCallSignature] = {}

    def forward(self, module: Module, recorder: ExportTracer) -> Callable[..., Any]:
        """Return a function that calls `module.forward` and adds the call to `nn_module_stack`.

        If the signature of the call is to be preserved, the function also records the signature.
        """
        path = self.paths.get(id(module))
        # A module that has no path was created by the program, and is no submodule of the exported module.
        if path is None:
            return module.forward  # type: ignore[no-any-return]
        call = f"{path}@{self.counts[path]}" if self.counts[path] else path
        self.counts[path] += 1

        def run(*args: Any, **kwargs: Any) -> Any:
            before, self.stack = self.stack, self.stack | {f"L__self__{call}": (path, class_name(module))}
            try:
                result = module.forward(*args, **kwargs)
            finally:
                self.stack = before
            if (
                path in self.preserved and not recorder.inside
            ):  # Do not preserve the signatures of calls in the subgraph of a control-flow operator.
                self.signatures[call] = self._signature(recorder, (args, kwargs), result)
            return result

        return run

    def _signature(self, recorder: ExportTracer, arguments: Any, result: Any) -> ModuleCallSignature:
        (inputs, in_spec), (outputs, out_spec) = (
            pytree.tree_flatten(arguments),
            pytree.tree_flatten(result),
        )
        input_specs = [argument(x, recorder.node_of(x)) for x in inputs]
        output_specs = [argument(x, recorder.node_of(x)) for x in outputs]
        return ModuleCallSignature(input_specs, output_specs, in_spec, out_spec)

    def rename(self, before: str, name: str) -> None:
        """Replace the node name `before` by `name` in all signatures."""
        for call, signature in self.signatures.items():
            self.signatures[call] = signature.renamed(
                lambda old_name: name if old_name == before else old_name
            )

    def entries(self, signature: ModuleCallSignature) -> list[ModuleCallEntry]:
        """Return the entries of the module call graph.

        The first entry is that of the program, with `signature`. Entries of all submodules follow, then
        entries of repeated calls.
        """
        names = [name for name in self.paths.values() if name]
        again = [name for name in self.signatures if "@" in name]
        call_entries = [ModuleCallEntry(name, self.signatures.get(name)) for name in names + again]
        return [ModuleCallEntry("", signature), *call_entries]


def class_name(module: Module) -> str:
    """Return the qualified name of a module's class. Names of `ts` become PyTorch's names."""
    kind = type(module)
    return f"{torch_name(kind.__module__)}.{kind.__qualname__}"
