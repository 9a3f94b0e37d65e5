"""PyTorch names that `ts` resolves to constants, decorators without effect or other modules."""

from __future__ import annotations

from typing import Final

# Dict from a function that queries a missing feature to the value that the function always returns.
ANSWERS: Final = {
    "onnx.is_in_onnx_export": False,
    "autograd._profiler_enabled": False,
    "autograd.profiler._get_privateuse1_backend_name": "privateuseone",
    "_C._get_cudnn_enabled": True,
    "_utils.is_compiling": False,
    "distributed.is_mpi_available": False,
    "distributed.is_nccl_available": False,
    "distributed.is_ucc_available": False,
    "distributed.is_xccl_available": False,
    "utils._triton.has_triton": False,
    "utils._triton.has_triton_package": False,
}

# Decorators that mark or register functions for missing features, and return functions unchanged.
MARKERS: Final = """
    onnx.register_custom_op_symbolic onnx.unregister_custom_op_symbolic
    onnx.symbolic_helper.parse_args onnx.symbolic_helper.quantized_args
    onnx.utils.register_custom_op_symbolic onnx.utils.unregister_custom_op_symbolic
    utils.data.functional_datapipe
"""

# Names of `distributed.tensor` that the deprecated module `distributed._tensor` exports, too.
_DISTRIBUTED_TENSOR: Final = (
    "DTensor", "DeviceMesh", "Partial", "Placement", "Replicate", "Shard", "distribute_module",
    "distribute_tensor", "empty", "full", "init_device_mesh", "ones", "rand", "randn", "zeros",
)  # fmt: skip
# Names of `distributed.fsdp` that `distributed._composable.fsdp` exports, too.
_COMPOSABLE_FSDP: Final = (
    "CPUOffloadPolicy", "FSDPModule", "MixedPrecisionPolicy", "OffloadPolicy", "fully_shard",
    "register_fsdp_forward_method",
)  # fmt: skip
_WRAPPED_TENSORS: Final = """
    current_level get_dynamic_layer_stack_depth get_unwrapped is_batchedtensor is_dead_tensor_wrapper
    is_functionaltensor is_functorch_wrapped_tensor is_gradtrackingtensor is_legacy_batchedtensor
    maybe_current_level maybe_get_bdim maybe_get_level unwrap_if_dead
"""
_VMAP_OPERATORS: Final = "_add_batch_dim _remove_batch_dim _vmap_decrement_nesting _vmap_increment_nesting"
# Dict from the path of an object in PyTorch to its path in `ts`, where another module contains it.
ELSEWHERE: Final = {
    "_C._TensorMeta": "ts._core.tensor.tensor_type.TensorMeta",
    "_C._get_tracing_state": "ts._core.thread.context.current_tracer",
    "_C._is_tracing": "ts.jit.is_tracing",
    "distributions.relaxed_bernoulli.LogitRelaxedBernoulli":
        "ts.distributions.relaxed.LogitRelaxedBernoulli",
    "distributions.relaxed_categorical.ExpRelaxedCategorical":
        "ts.distributions.relaxed.ExpRelaxedCategorical",
    "jit._trace.TopLevelTracedModule": "ts.tracing.traced_module.TopLevelTracedModule",
    "nn.modules.module._IncompatibleKeys": "ts.nn.modules.state_dict_io.IncompatibleKeys",
    "utils._contextlib._DecoratorContextManager": "ts.autograd.grad_mode._Block",
    "utils._contextlib._NoParamDecoratorContextManager": "ts.autograd.grad_mode._PlainBlock",
    "distributions.multivariate_normal._precision_to_scale_tril":
        "ts.distributions.multivariate._precision_to_scale_tril",
    "distributions.transforms._clipped_sigmoid": "ts.distributions.elementwise_transforms._clipped_sigmoid",
    "nn.functional._canonical_mask": "ts.nn.functional.attention._canonical_mask",
    "nn.functional._none_or_dtype": "ts.nn.functional.attention._none_or_dtype",
    "overrides._is_torch_function_mode_enabled": "ts.overrides.has_function_modes",
    "_C._is_torch_function_mode_enabled": "ts.overrides.has_function_modes",
    "distributions.multivariate_normal._batch_mahalanobis": "ts.distributions.multivariate.mahalanobis",
    "_dynamo.eval_frame.OptimizedModule": "ts._dynamo.OptimizedModule",
    "_C._is_alias_of": "ts._utils._is_alias_of",
    "_C._nn._parse_to": "ts.nn.modules.module_to.parse_to",
    "utils.data._utils.collate.default_collate_err_msg_format": "ts.utils.data.collate.UNSUPPORTED_BATCH",
    "nn.quantized.DeQuantize": "ts.nn.modules.quantization.DeQuantize",
    "nn.quantized.FXFloatFunctional": "ts.nn.modules.quantization.FXFloatFunctional",
    "nn.quantized.FloatFunctional": "ts.nn.modules.quantization.FloatFunctional",
    "quantization.DeQuantStub": "ts.nn.modules.quantization.DeQuantStub",
    "quantization.QuantStub": "ts.nn.modules.quantization.QuantStub",
    "quantization.QuantWrapper": "ts.nn.modules.quantization.QuantWrapper",
    "_ops.ops": "ts.ops",
    **{f"_C._functorch.{name}": f"ts._functorch.wrapped_tensors.{name}" for name in _WRAPPED_TENSORS.split()},
    **{f"_C._functorch.{name}": f"ts._functorch.predispatch.{name}" for name in _VMAP_OPERATORS.split()},
    **{f"distributed._tensor.{name}": f"ts.distributed.tensor.{name}" for name in _DISTRIBUTED_TENSOR},
    **{f"distributed._composable.fsdp.{name}": f"ts.distributed.fsdp.{name}" for name in _COMPOSABLE_FSDP},
}  # fmt: skip
