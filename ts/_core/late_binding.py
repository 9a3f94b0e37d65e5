"""Late binding (dependency inversion, lazy import) of functions and modules of upper layers.

A lower layer cannot import an upper layer without an import cycle. Instead, it gets a function, class or
module by its name in the table `_PROVIDERS`. `tests/test_imports.py` checks that no other upward imports
exist. Example:

    resolve("script_text")(x)          calls ts.runtime.tensor_str.script_text(x)
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, Final

from ts._core.value.build_lock import import_lock

# name -> "module", or "module:attribute" for an attribute of the module
_PROVIDERS: Final = {
    # operators and their rules
    "backends": "ts.backends",
    "operator_registry": "ts.ops.registry",
    "announce_methods": "ts.ops.lazy_methods:announce",
    "operator_overloads": "ts.ops.registry:lookup",
    "operators_for_python": "ts.ops.registry:lookup_for_python",
    "type_promotion": "ts.ops.common",
    "functional": "ts.functional",
    "higher_order_operators": "ts._higher_order_ops:operators",
    "opcheck_tests": "ts.export.opcheck_tests",
    "operator_documentation": "ts.ops.documentation:help_text",
    "operator_schema": "ts.ir.schema:parse_schema",
    "operator_work": "ts.ops.cost_model:rule_of",
    "apply_layout_rules": "ts.ops.result_strides:apply_layout_rules",
    "torch_functions": "ts.ops.functional",
    "check_narrow_float": "ts.ops.narrow_floats:check",
    "check_narrow_complex": "ts.ops.narrow_complex:check",
    "narrow_float_kernel": "ts.ops.narrow_floats:kernel",
    "narrow_complex_kernel": "ts.ops.narrow_complex:kernel",
    "overload_set_by_name": "ts._core.dispatch.overloads:overloads",
    # derivatives and function transforms
    "tape": "ts._core.autograd.tape",
    "derivative_rule": "ts.ops.derivatives.tape_rules:rule_of",
    "differentiable_plan": "ts.autodiff.differentiable_plans:get_plan_for_function",
    "batching_rules": "ts.ops.vmap_rules.rules",
    "run_on_levels": "ts._core.dispatch_layers.level_stack:run_on_levels",
    "run_on_fakes": "ts._subclasses.fake_tensor:run_on_fakes",
    "forward_derivatives": "ts.ops.derivatives.forward",
    "batched_tensor": "ts._core.dispatch_layers.batched_tensor",
    # subclasses of Tensor and dispatch modes
    "initialize_subclass": "ts._core.dispatch.subclasses:initialize_subclass",
    "function_overrides": "ts._core.dispatch.overrides",
    "call_torch_function": "ts._core.dispatch.subclasses:call_torch_function",
    "tensor_subclasses": "ts._core.dispatch_layers.tensor_subclasses",
    "torch_dispatch": "ts._core.dispatch_layers.torch_dispatch",
    "torch_dispatch_call": "ts.utils._python_dispatch:build_call",
    "torch_dispatch_decomposition": "ts.utils._python_dispatch:find_decomposition",
    "default_device_mode": "ts.utils._device",
    # methods of tensors
    "tensor_type": "ts._core.tensor.tensor_type",
    "tensor_factories": "ts._core.tensor.factories",
    "detached_tensor": "ts._core.tensor.tensor_metadata:detached",
    "cuda_array_interface": "ts._core.tensor.interop:cuda_array_interface",
    "storage": "ts._core.tensor.storage",
    "shared_storage": "ts._core.tensor.sharing",
    "tensor_text": "ts._core.tensor.printing:tensor_text",
    "script_text": "ts.runtime.tensor_str:script_text",
    # objects of scripts
    "class_spec": "ts.runtime.objects:class_spec",
    "container_spec": "ts.runtime.objects:container_spec",
    "object_of_instance": "ts.runtime.objects:object_of",
    "instance_of_object": "ts.runtime.objects:instance_of",
    "object_has_interface": "ts.runtime.objects:has_interface",
    "object_order": "ts.runtime.objects:order_of",
    "module_of_object": "ts.runtime.module:module_of",
    "frozen_module": "ts.runtime.frozen_modules:frozen_module",
    "copy_object": "ts.runtime.deepcopy:deep_copy",
    "save_script_value": "ts.archive.script_values:save_script_value",
    # the compiler of functions and classes
    "annotations": "ts.frontend.annotations",
    "compile": "ts.frontend.compile",
    "overloads": "ts.frontend.overloads",
    "enum_attribute": "ts.frontend.enums:enum_attribute",
    "script_classes": "ts.frontend.sugared_values.classes",
    "script_modules": "ts.frontend.sugared_values.modules",
    "python_functions": "ts.frontend.sugared_values.python_functions",
    "python_objects": "ts.frontend.sugared_values.python_objects",
    "package": "ts",
    "executor": "ts.runtime.executor",
    "breakpoint_hook": "ts.debugger.breakpoint_hook",
    "debug_state": "ts.runtime.debug_state",
    # methods of exported programs, which are plain data
    "verifier_of": "ts.export.verifier:verifier_of",
    "shape_environment": "ts.export.shape_env:ShapeEnv",
    "decompose_program": "ts.export.run_decompositions:decompose_program",
    "unlifted_module": "ts.export.unlifted_module:UnliftedModule",
}
_resolved: dict[str, Any] = {}


def resolve(name: str) -> Any:
    """Return the function, class or module that the table gives for `name`. Import its module if needed."""
    try:
        return _resolved[name]
    except KeyError:
        pass
    module_name, _, attribute = _PROVIDERS[name].partition(":")
    with import_lock():
        provider: Any = importlib.import_module(module_name)
    if attribute:
        provider = getattr(provider, attribute)
    return _resolved.setdefault(name, provider)


def attribute_if_imported(module_name: str, attribute: str) -> Any:
    """Return the named attribute of an imported module, or None without an import.

    While another thread imports the module, the result is None until the attribute exists.
    """
    return getattr(sys.modules.get(module_name), attribute, None)
