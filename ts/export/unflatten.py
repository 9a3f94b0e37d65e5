"""Unflattening of an exported program into a module hierarchy with replaceable submodules.

This example replaces a submodule:

    module = unflatten(program)
    module.encoder.layers[0] = another

If the signature of a submodule was preserved, the replacement is called like the original submodule.
"""

from __future__ import annotations

import abc
from typing import Any

from ts.export.argument_checks import check_arguments
from ts.export.interpreter_modules import InterpreterModule, InterpreterModuleDispatcher
from ts.export.module_frames import Unflattening
from ts.export.program import ExportedProgram
from ts.export.runner import reorder_keys
from ts.fx.graph import Graph
from ts.utils import _pytree as pytree

__all__ = [
    "FlatArgsAdapter",
    "InterpreterModule",
    "InterpreterModuleDispatcher",
    "UnflattenedModule",
    "unflatten",
]


class FlatArgsAdapter(abc.ABC):
    """Base class of converters of arguments.

    Their pytree structure differs from that of the program's arguments.
    """

    @abc.abstractmethod
    def adapt(
        self,
        target_spec: Any,
        input_spec: Any,
        input_args: list[Any],
        metadata: dict[str, Any] | None = None,
        obj: Any | None = None,
    ) -> list[Any]:
        """Convert leaves of arguments with the structure `input_spec` to leaves for `target_spec`."""

    def get_flat_arg_paths(self) -> list[str]:
        """Return the paths of the flat arguments. The default is an empty list."""
        return []


class UnflattenedModule(InterpreterModule):
    """Result of `unflatten`: a hierarchy of the modules that the program called."""

    def __init__(self, program: ExportedProgram, flat_args_adapter: FlatArgsAdapter | None = None) -> None:
        super().__init__(Graph())
        self.graph_signature = program.graph_signature
        self.module_call_graph = program.module_call_graph
        self.range_constraints = program.range_constraints
        self.flat_args_adapter = flat_args_adapter
        self.check_input_constraints = True
        self.adapted = False
        self.meta = dict(getattr(program.graph_module, "meta", {}))
        self._program = program
        Unflattening(program, self).run()
        self.finalize()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the modules. `flat_args_adapter` converts arguments with another tree structure.

        Raise TypeError for such arguments if there is no adapter.
        """
        call = self._program.call_signature
        in_spec = call.in_spec
        args, kwargs = reorder_keys((args, kwargs), in_spec)
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != in_spec:
            if self.flat_args_adapter is None:
                raise TypeError(
                    "There is no flat args adapter specified. Are you sure you are calling this with the "
                    f"right arguments? Their structure is {spec}, but the program expects {in_spec}"
                )
            leaves = self.flat_args_adapter.adapt(in_spec, spec, leaves, obj=(args, kwargs))
            self.adapted = True
            if len(leaves) != in_spec.num_leaves:
                raise TypeError(
                    f"Flat args adaption failed, number of args mismatch Adapted: {len(leaves)} "
                    f"Exported module: {in_spec.num_leaves}"
                )
        if self.check_input_constraints:
            check_arguments(self._program, leaves)
        return pytree.tree_unflatten(super().forward(*leaves), call.out_spec)


def unflatten(module: ExportedProgram, flat_args_adapter: FlatArgsAdapter | None = None) -> UnflattenedModule:
    """Convert an exported program to a module hierarchy like that of the original module.

    A module with a preserved signature (`export(..., preserve_module_call_signature=("encoder",))`) is called
    like the original module. Other modules have their inputs in an unspecified order. `flat_args_adapter`
    converts arguments whose tree structure differs from that of the program.

    Calls raise RuntimeError for arguments that violate the program's metadata, and AssertionError for
    arguments that violate its guards.
    """
    return UnflattenedModule(module, flat_args_adapter)
