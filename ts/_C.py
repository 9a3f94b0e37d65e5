"""Part of PyTorch's private module `torch._C` for programs that inspect graphs: `torch._C._jit_pass_*`.

Input: a graph. Output: True if the function changed the graph, while most passes of PyTorch return None.
Example:

    graph = ts._C.parse_ir(text)
    ts._C._jit_pass_cse(graph)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache, partial, wraps
from types import ModuleType
from typing import Any, Final

from ts.unsupported import names_for

# name of a pass in `torch._C`, without the prefix `_jit_pass_` -> function in `ts.passes`
_PASSES: Final = {
    "batch_mm": "pytorch.batch_mm.batch_mm",
    "canonicalize_graph_fuser_ops": "pytorch.canonicalize_graph_fuser_ops.canonicalize_graph_fuser_ops",
    "concat_frozen_linear": "freezing.concat_frozen_linear.concat_frozen_linear",
    "constant_loop_unrolling": "pytorch.loop_unrolling.unroll_constant_loops",
    "constant_pooling": "constant_pooling.constant_pooling",
    "constant_propagation": "constant_propagation.constant_propagation",
    "constant_propagation_immutable_types": "constant_propagation.constant_propagation_immutable_types",
    "create_functional_graphs": "create_functional_graphs.create_functional_graphs",
    "create_autodiff_subgraphs": "create_autodiff_subgraphs.create_autodiff_subgraphs",
    "cse": "cse.eliminate_common_subexpressions",
    "dce": "dce.eliminate_dead_code",
    "dce_graph": "dce.eliminate_dead_code",
    "decompose_ops": "pytorch.decompose_ops.decompose_ops",
    "erase_number_types": "pytorch.erase_number_types.erase_number_types",
    "erase_shape_information": "erase_shapes.erase_shape_information",
    "fold_frozen_conv_add_or_sub": "freezing.frozen_conv_folding.fold_frozen_conv_add_or_sub",
    "fold_frozen_conv_bn": "freezing.frozen_conv_folding.fold_frozen_conv_bn",
    "fold_frozen_conv_mul_or_div": "freezing.frozen_conv_folding.fold_frozen_conv_mul_or_div",
    "fold_frozen_linear_bn": "freezing.frozen_linear_folding.fold_frozen_linear_bn",
    "functional_to_inplace_activation": "pytorch.inplace_activations.functional_to_inplace_activation",
    "fuse_addmm": "pytorch.fuse_addmm.fuse_addmm",
    "fuse_add_relu": "pytorch.fuse_relu.fuse_add_relu",
    "fuse_linear": "pytorch.fuse_linear.fuse_linear",
    "inline": "inline.inline",
    "inline_fork_wait": "inline_fork_wait.inline_fork_wait",
    "inline_functional_graphs": "create_functional_graphs.inline_functional_graphs",
    "inplace_to_functional_activation": "pytorch.inplace_activations.inplace_to_functional_activation",
    "integer_value_refinement": "refine_integer_values.refine_integer_values",
    "lint": "pytorch.lint.lint",
    "loop_unrolling": "pytorch.loop_unrolling.unroll_loops",
    "lower_all_tuples": "lower_tuples.lower_all_tuples",
    "peephole": "peephole.peephole",
    "peephole_list_idioms": "peephole_list_idioms.peephole_list_idioms",
    "propagate_device": "shape_analysis.propagate_types",
    "propagate_dtype": "shape_analysis.propagate_types",
    "propagate_shapes_on_graph": "shape_analysis.propagate_types",
    "refine_integer_values": "refine_integer_values.refine_integer_values",
    "refine_tuple_types": "pytorch.refine_tuple_types.refine_tuple_types",
    "remove_dropout": "freezing.remove_dropout.remove_dropout",
    "remove_expands": "tracing.remove_expands.remove_expands",
    "remove_inplace_ops": "pytorch.remove_inplace_ops.remove_inplace_ops",
    "remove_mutation": "pytorch.remove_mutation.remove_mutation",
    "specialize_autogradzero": "pytorch.specialize_autogradzero.specialize_autogradzero",
}
_TYPES: Final = (
    "Any Bool Class Complex DeviceObj Dict Enum Float Future Interface Int List None Number Optional RRef "
    "String Tensor Tuple Union"
)
_NAME_TO_MODULE: Final = {
    "AliasDb": "ts.analysis.alias.AliasDb",
    "Argument": "ts.ir.schema.Argument",
    "Block": "ts.ir.graph.Block",
    "DisableTorchFunction": "ts._core.dispatch.modes.without_overrides",
    "DisableTorchFunctionSubclass": "ts._core.thread.context.DisableTorchFunction",
    "DispatchKey": "ts.unsupported.dispatch_keys.DispatchKey",
    "DispatchKeySet": "ts.unsupported.dispatch_keys.DispatchKeySet",
    "_ExcludeDispatchKeyGuard": "ts.unsupported.dispatch_keys.ExcludeDispatchKeyGuard",
    "_DisableTorchDispatch": "ts._core.dispatch_layers.level_stack.no_transforms",
    "_disabled_torch_dispatch_impl": "ts._core.tensor.tensor_type._disabled_torch_dispatch_impl",
    "_disabled_torch_function_impl": "ts._core.tensor.tensor_type._disabled_torch_function_impl",
    "_are_functorch_transforms_active": "ts._core.thread.transform_state.is_transforming",
    "_get_tracing_state": "ts.frontend.compile_directives.get_tracing_state",
    "_is_tracing": "ts.frontend.compile_directives.is_tracing",
    "_len_torch_function_stack": "ts._core.dispatch.modes.count_modes",
    "_log_api_usage_once": "ts.unsupported.dispatch_keys.log_api_usage_once",
    "FunctionSchema": "ts.ir.schema.FunctionSchema",
    "Graph": "ts.ir.graph.Graph",
    "Node": "ts.ir.graph.Node",
    "ScriptDict": "ts._core.value.script_containers.ScriptDict",
    "ScriptList": "ts._core.value.script_containers.ScriptList",
    "ScriptFunction": "ts.runtime.function.ScriptFunction",
    "Use": "ts.ir.graph.Use",
    "Value": "ts.ir.graph.Value",
    "parse_ir": "ts.ir.graph_parser.parse_ir_without_result_names",
    "parse_type_comment": "ts.frontend.type_comment_tree.parse_type_comment",
    "_infer_size": "ts.passes.shape_analysis.infer_size",
    "_jit_debug_module_iterators": "ts.runtime.module_iterators.debug_module_iterators",
    "parse_schema": "ts.ir.schema.parse_schema",
    "BufferDict": "ts.runtime.module_handle.BufferDict",
    "ModuleDict": "ts.runtime.module_handle.ModuleDict",
    "ParameterDict": "ts.runtime.module_handle.ParameterDict",
    "FileCheck": "ts.testing.file_check.FileCheck",
    "ScriptModule": "ts.runtime.module_handle.ModuleHandle",
    "_freeze_module": "ts.runtime.module_handle.freeze_handle",
    "_debug_set_autodiff_subgraph_inlining": "ts.passes.create_autodiff_subgraphs.set_subgraph_inlining",
    "_create_function_from_graph": "ts.runtime.function.create_function_from_graph",
    "_jit_get_schemas_for_operator": "ts.ops.registry.schemas",
    "_jit_interpret_graph": "ts.runtime.function.interpret_graph",
    "_jit_pass_canonicalize": "ts.passes.canonicalize.canonicalize",
    "_jit_pass_complete_shape_analysis": "ts.passes.shape_analysis.complete_shape_analysis",
    "_jit_pass_custom_pattern_based_rewrite_graph": "ts.passes.subgraph_rewrite.rewrite",
    "_jit_pass_custom_pattern_based_rewrite": "ts.runtime.module_handle.rewrite_methods",
    "_propagate_shapes": "ts.passes.shape_analysis.propagate_shapes",
    "_jit_set_fusion_strategy": "ts.runtime.executor.set_fusion_strategy",
    "_jit_set_inline_everything_mode": "ts.passes.inline.set_inline_everything_mode",
    "_jit_get_inline_everything_mode": "ts.passes.inline.get_inline_everything_mode",
    "_last_executed_optimized_graph": "ts.runtime.executor.last_executed_optimized_graph",
    "_get_graph_executor_optimize": "ts.runtime.executor.is_optimizing",
    "_set_graph_executor_optimize": "ts.runtime.executor.set_optimizing",
    **{f"{name}Type": f"ts.types.{name}Type" for name in _TYPES.split()},
}
_PREFIX: Final = "_jit_pass_"
# Submodule of `torch._C` whose functions are operators -> module of `ts` with these operators. `fx` generates
# code that calls functions of these submodules.
_OPERATORS: Final = {
    "_nn": "ts.nn.functional", "_linalg": "ts.linalg", "_fft": "ts.fft", "_special": "ts.special",
}  # fmt: skip

_FIND_FLAG_FUNCTION = "ts.runtime.executor_flags.find_flag_function"


def __getattr__(name: str) -> Any:
    attribute: Any
    if name in _NAME_TO_MODULE:
        attribute = _import_name(_NAME_TO_MODULE[name])
    elif name in _OPERATORS:
        attribute = importlib.import_module(f"ts._C.{name}")  # `operator_module` creates this module
    elif name.removeprefix(_PREFIX) in _PASSES and name.startswith(_PREFIX):
        attribute = partial(_run, _import_name(f"ts.passes.{_PASSES[name.removeprefix(_PREFIX)]}"))
    else:
        attribute = _import_name(_FIND_FLAG_FUNCTION)(name) if name.startswith("_jit_") else None
        if attribute is None:
            raise AttributeError(f"module 'ts._C' has no attribute '{name}'")
    globals()[name] = attribute
    return attribute


def _import_name(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


class _OperatorModule(ModuleType):
    """Module whose functions have the names of operators: `_C._linalg.linalg_norm` is `ts.linalg.norm`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"ts._C.{name}", f"Operators of `{_OPERATORS[name]}`.")
        self._prefix = f"{name[1:]}_"
        self._module_path = _OPERATORS[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            return names_for(self.__name__)(name)
        operator_name = "logsigmoid" if name == "log_sigmoid" else name.removeprefix(self._prefix)
        operators = importlib.import_module(self._module_path)
        return (
            getattr(operators, operator_name)
            if hasattr(operators, operator_name)
            else names_for(self.__name__)(name)
        )


@cache
def operator_module(name: str) -> ModuleType | None:
    """Return the operator module with a name such as `_nn`, or None."""
    return _OperatorModule(name) if name in _OPERATORS else None


def _run(run: Callable[..., Any], graph: Any, *options: Any, **named: Any) -> Any:
    """Run a pass with options on a graph or on the graphs of a module's methods.

    Some passes create nodes of PyTorch's executor, such as `prim::TypeCheck`. The graph keeps these nodes.
    Later calls of its function execute a copy, in which ordinary nodes replace them.
    """
    from ts.passes.pipelines import run_pass
    from ts.passes.preserve_raising_code import set_graph_to_execute
    from ts.passes.pytorch.lower_executor_nodes import with_executor_nodes_lowered

    # `wraps` also copies `__module__`. An environment variable that disables passes identifies them by this
    # attribute.
    @wraps(run)
    def with_options(graph: Any) -> Any:
        return run(graph, *options, **named)

    if not hasattr(graph, "nodes"):  # `graph` is a module: run the pass on its methods
        from ts.passes.freezing.remove_dropout import remove_dropout
        from ts.passes.pass_utils import run_on_methods

        # `remove_dropout` needs the module instead of the graph, because it reads the training mode of the
        # module
        if run is remove_dropout:
            return run(graph)
        return run_on_methods(graph, lambda graph: run_pass(graph, with_options))
    changed = run_pass(graph, with_options)
    runs = with_executor_nodes_lowered(graph)
    if runs is not graph:
        set_graph_to_execute(graph, runs)
    return changed


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAME_TO_MODULE, *_OPERATORS, *(f"{_PREFIX}{name}" for name in _PASSES)})
