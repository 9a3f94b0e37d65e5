# Made from the records of the operators by `python -m tests.regenerate`: change those, or tests/stubs.py.

from collections.abc import Sequence
from typing import Any, Literal, overload

from ts._core.dispatch import named_results
from ts._core.tensor.dtype_kinds import (
    Bool,
    Bools,
    DType,
    Device,
    Float,
    Floats,
    Int,
    Ints,
    Layout,
    MemoryFormat,
    Number,
    Numbers,
    OptionalTensors,
    PyFloat,
    PyInt,
    Str,
    Tensors,
)
from ts._core.tensor.factories import as_tensor as as_tensor
from ts._core.tensor.factories import from_numpy as from_numpy
from ts._core.tensor.factories import tensor as tensor
from ts._core.tensor.interop import from_dlpack as from_dlpack
from ts._core.tensor.printing import set_printoptions as set_printoptions
from ts._core.tensor.storage import TypedStorage as TypedStorage
from ts._core.tensor.storage import UntypedStorage as UntypedStorage
from ts._core.tensor.storage import is_storage as is_storage
from ts._core.tensor.sym_types import SymBool as SymBool
from ts._core.tensor.sym_types import SymFloat as SymFloat
from ts._core.tensor.sym_types import SymInt as SymInt
from ts._core.tensor.tensor import Size as Size
from ts._core.tensor.tensor import Tensor as Tensor
from ts._core.vm.interop_pool import get_num_interop_threads as get_num_interop_threads
from ts._core.vm.interop_pool import set_num_interop_threads as set_num_interop_threads
from ts._higher_order_ops.cond import cond as cond
from ts._higher_order_ops.while_loop import while_loop as while_loop
from ts._subclasses.fake_tensor import fake as fake
from ts.amp import GradScaler as GradScaler
from ts.amp import autocast as autocast
from ts.amp.autocast_flags import autocast_decrement_nesting as autocast_decrement_nesting
from ts.amp.autocast_flags import autocast_increment_nesting as autocast_increment_nesting
from ts.amp.autocast_flags import clear_autocast_cache as clear_autocast_cache
from ts.amp.autocast_flags import get_autocast_cpu_dtype as get_autocast_cpu_dtype
from ts.amp.autocast_flags import get_autocast_dtype as get_autocast_dtype
from ts.amp.autocast_flags import get_autocast_gpu_dtype as get_autocast_gpu_dtype
from ts.amp.autocast_flags import is_autocast_cache_enabled as is_autocast_cache_enabled
from ts.amp.autocast_flags import is_autocast_cpu_enabled as is_autocast_cpu_enabled
from ts.amp.autocast_flags import is_autocast_enabled as is_autocast_enabled
from ts.amp.autocast_flags import set_autocast_cache_enabled as set_autocast_cache_enabled
from ts.amp.autocast_flags import set_autocast_cpu_dtype as set_autocast_cpu_dtype
from ts.amp.autocast_flags import set_autocast_cpu_enabled as set_autocast_cpu_enabled
from ts.amp.autocast_flags import set_autocast_dtype as set_autocast_dtype
from ts.amp.autocast_flags import set_autocast_enabled as set_autocast_enabled
from ts.amp.autocast_flags import set_autocast_gpu_dtype as set_autocast_gpu_dtype
from ts.archive.torch_save import save as save
from ts.as_torch import install_as_torch as install_as_torch
from ts.autograd.anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from ts.autograd.anomaly import is_anomaly_enabled as is_anomaly_enabled
from ts.autograd.grad_mode import enable_grad as enable_grad
from ts.autograd.grad_mode import inference_mode as inference_mode
from ts.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from ts.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from ts.autograd.grad_mode import no_grad as no_grad
from ts.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from ts.compiler import compile as compile
from ts.debugger.api import debug as debug
from ts.devices import Stream as Stream
from ts.devices import device as device
from ts.dtypes import channels_last as channels_last
from ts.dtypes import channels_last_3d as channels_last_3d
from ts.dtypes import contiguous_format as contiguous_format
from ts.dtypes import dtype as dtype
from ts.dtypes import finfo as finfo
from ts.dtypes import get_default_dtype as get_default_dtype
from ts.dtypes import iinfo as iinfo
from ts.dtypes import layout as layout
from ts.dtypes import memory_format as memory_format
from ts.dtypes import preserve_format as preserve_format
from ts.dtypes import set_default_dtype as set_default_dtype
from ts.dtypes import sparse_bsc as sparse_bsc
from ts.dtypes import sparse_bsr as sparse_bsr
from ts.dtypes import sparse_coo as sparse_coo
from ts.dtypes import sparse_csc as sparse_csc
from ts.dtypes import sparse_csr as sparse_csr
from ts.dtypes import strided as strided
from ts.func.vmap import vmap as vmap
from ts.futures import Future as Future
from ts.ir.graph_parser import parse_ir as parse_ir
from ts.ops.generator import Generator as Generator
from ts.ops.generator import default_generator as default_generator
from ts.python_api.files import from_file as from_file
from ts.python_api.files import get_device_module as get_device_module
from ts.python_api.from_memory import asarray as asarray
from ts.python_api.from_memory import frombuffer as frombuffer
from ts.python_api.global_flags import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from ts.python_api.global_flags import get_deterministic_debug_mode as get_deterministic_debug_mode
from ts.python_api.global_flags import get_float32_matmul_precision as get_float32_matmul_precision
from ts.python_api.global_flags import is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled
from ts.python_api.global_flags import is_warn_always_enabled as is_warn_always_enabled
from ts.python_api.global_flags import set_deterministic_debug_mode as set_deterministic_debug_mode
from ts.python_api.global_flags import set_float32_matmul_precision as set_float32_matmul_precision
from ts.python_api.global_flags import set_flush_denormal as set_flush_denormal
from ts.python_api.global_flags import set_warn_always as set_warn_always
from ts.python_api.global_flags import use_deterministic_algorithms as use_deterministic_algorithms
from ts.python_api.lowrank import pca_lowrank as pca_lowrank
from ts.python_api.lowrank import svd_lowrank as svd_lowrank
from ts.python_api.predicates import _assert as _assert
from ts.python_api.predicates import get_device as get_device
from ts.python_api.predicates import is_complex as is_complex
from ts.python_api.predicates import is_floating_point as is_floating_point
from ts.python_api.predicates import is_tensor as is_tensor
from ts.python_api.predicates import numel as numel
from ts.python_api.predicates import typename as typename
from ts.python_api.storage_types import BFloat16Storage as BFloat16Storage
from ts.python_api.storage_types import BoolStorage as BoolStorage
from ts.python_api.storage_types import ByteStorage as ByteStorage
from ts.python_api.storage_types import CharStorage as CharStorage
from ts.python_api.storage_types import ComplexDoubleStorage as ComplexDoubleStorage
from ts.python_api.storage_types import ComplexFloatStorage as ComplexFloatStorage
from ts.python_api.storage_types import DoubleStorage as DoubleStorage
from ts.python_api.storage_types import FloatStorage as FloatStorage
from ts.python_api.storage_types import HalfStorage as HalfStorage
from ts.python_api.storage_types import IntStorage as IntStorage
from ts.python_api.storage_types import LongStorage as LongStorage
from ts.python_api.storage_types import ShortStorage as ShortStorage
from ts.python_api.storage_types import Storage as Storage
from ts.python_api.sym_functions import _check as _check
from ts.python_api.sym_functions import _check_index as _check_index
from ts.python_api.sym_functions import _check_is_size as _check_is_size
from ts.python_api.sym_functions import _check_not_implemented as _check_not_implemented
from ts.python_api.sym_functions import _check_tensor_all as _check_tensor_all
from ts.python_api.sym_functions import _check_type as _check_type
from ts.python_api.sym_functions import _check_value as _check_value
from ts.python_api.sym_functions import _check_with as _check_with
from ts.python_api.sym_functions import sym_float as sym_float
from ts.python_api.sym_functions import sym_int as sym_int
from ts.python_api.sym_functions import sym_ite as sym_ite
from ts.python_api.sym_functions import sym_max as sym_max
from ts.python_api.sym_functions import sym_min as sym_min
from ts.python_api.sym_functions import sym_not as sym_not
from ts.python_api.sym_functions import sym_sqrt as sym_sqrt
from ts.python_api.sym_functions import sym_sum as sym_sum
from ts.python_api.tensor_types import BFloat16Tensor as BFloat16Tensor
from ts.python_api.tensor_types import BoolTensor as BoolTensor
from ts.python_api.tensor_types import ByteTensor as ByteTensor
from ts.python_api.tensor_types import CharTensor as CharTensor
from ts.python_api.tensor_types import DoubleTensor as DoubleTensor
from ts.python_api.tensor_types import FloatTensor as FloatTensor
from ts.python_api.tensor_types import HalfTensor as HalfTensor
from ts.python_api.tensor_types import IntTensor as IntTensor
from ts.python_api.tensor_types import LongTensor as LongTensor
from ts.python_api.tensor_types import ShortTensor as ShortTensor
from ts.python_api.tensor_types import set_default_tensor_type as set_default_tensor_type
from ts.python_api.threads import get_num_threads as get_num_threads
from ts.python_api.threads import set_num_threads as set_num_threads
from ts.random import get_rng_state as get_rng_state
from ts.random import initial_seed as initial_seed
from ts.random import manual_seed as manual_seed
from ts.random import seed as seed
from ts.random import set_rng_state as set_rng_state
from ts.runtime.limits import limits as limits
from ts.serialization import load as load
from ts.sparse.constructors import sparse_bsc_tensor as sparse_bsc_tensor
from ts.sparse.constructors import sparse_bsr_tensor as sparse_bsr_tensor
from ts.sparse.constructors import sparse_compressed_tensor as sparse_compressed_tensor
from ts.sparse.constructors import sparse_coo_tensor as sparse_coo_tensor
from ts.sparse.constructors import sparse_csc_tensor as sparse_csc_tensor
from ts.sparse.constructors import sparse_csr_tensor as sparse_csr_tensor
from ts.sparse.constructors import spmm as spmm
from ts.utils._device import get_default_device as get_default_device
from ts.utils._device import set_default_device as set_default_device
from ts import _C as _C
from ts import _VF as _VF
from ts import __config__ as __config__
from ts import __future__ as __future__
from ts import _dynamo as _dynamo
from ts import _functorch as _functorch
from ts import _higher_order_ops as _higher_order_ops
from ts import _jit_internal as _jit_internal
from ts import _subclasses as _subclasses
from ts import _utils as _utils
from ts import _vmap_internals as _vmap_internals
from ts import accelerator as accelerator
from ts import amp as amp
from ts import analysis as analysis
from ts import archive as archive
from ts import as_torch as as_torch
from ts import autograd as autograd
from ts import backends as backends
from ts import bytecode as bytecode
from ts import classes as classes
from ts import cli as cli
from ts import compiler as compiler
from ts import cpu as cpu
from ts import cuda as cuda
from ts import debugger as debugger
from ts import devices as devices
from ts import distributed as distributed
from ts import distributions as distributions
from ts import dtypes as dtypes
from ts import errors as errors
from ts import fft as fft
from ts import frontend as frontend
from ts import func as func
from ts import functional as functional
from ts import futures as futures
from ts import fx as fx
from ts import hub as hub
from ts import ir as ir
from ts import jit as jit
from ts import library as library
from ts import linalg as linalg
from ts import masked as masked
from ts import mps as mps
from ts import multiprocessing as multiprocessing
from ts import nn as nn
from ts import ops as ops
from ts import optim as optim
from ts import overrides as overrides
from ts import passes as passes
from ts import profiler as profiler
from ts import python_api as python_api
from ts import quasirandom as quasirandom
from ts import random as random
from ts import return_types as return_types
from ts import runtime as runtime
from ts import serialization as serialization
from ts import signal as signal
from ts import sparse as sparse
from ts import special as special
from ts import testing as testing
from ts import torch_version as torch_version
from ts import tracing as tracing
from ts import types as types
from ts import unsupported as unsupported
from ts import utils as utils
from ts import version as version
from ts import xpu as xpu

__version__: Str
WRITTEN: frozenset[Str]
newaxis: None
e: PyFloat
inf: PyFloat
nan: PyFloat
pi: PyFloat
bfloat16: dtype
bool: dtype
cdouble: dtype
cfloat: dtype
chalf: dtype
complex128: dtype
complex32: dtype
complex64: dtype
double: dtype
float: dtype
float16: dtype
float32: dtype
float64: dtype
float8_e4m3fn: dtype
float8_e4m3fnuz: dtype
float8_e5m2: dtype
float8_e5m2fnuz: dtype
float8_e8m0fnu: dtype
half: dtype
int: dtype
int16: dtype
int32: dtype
int64: dtype
int8: dtype
long: dtype
short: dtype
uint16: dtype
uint32: dtype
uint64: dtype
uint8: dtype

@overload
def _adaptive_avg_pool2d(input: Tensor, output_size: Int | Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def _adaptive_avg_pool2d(input: Tensor, *output_size: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def _adaptive_avg_pool3d(input: Tensor, output_size: Int | Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def _adaptive_avg_pool3d(input: Tensor, *output_size: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def _add_relu(input: Tensor, other: Tensor, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor: ...
@overload
def _add_relu(input: Tensor, other: Number, alpha: Number = 1, *, out: Tensor | None = None) -> Tensor: ...
@overload
def _add_relu_(input: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor: ...
@overload
def _add_relu_(input: Tensor, other: Number, alpha: Number = 1) -> Tensor: ...
@overload
def _aminmax(input: Tensor, *, out: Tensors | None = None) -> tuple[Tensor, Tensor]: ...
@overload
def _aminmax(
    input: Tensor, dim: Int, keepdim: Bool = False, *, out: Tensors | None = None
) -> tuple[Tensor, Tensor]: ...
def _amp_foreach_non_finite_check_and_unscale_(
    input: Tensors, found_inf: Tensor, inv_scale: Tensor
) -> None: ...
def _amp_update_scale_(
    input: Tensor,
    growth_tracker: Tensor,
    found_inf: Tensor,
    scale_growth_factor: Float,
    scale_backoff_factor: Float,
    growth_interval: Int,
) -> Tensor: ...
@overload
def _assert_async(input: Tensor) -> None: ...
@overload
def _assert_async(input: Tensor, assert_msg: Str) -> None: ...
def _assert_tensor_metadata(
    a: Tensor,
    size: Ints | None = None,
    stride: Ints | None = None,
    dtype: DType | None = None,
    *,
    device: Device | None = None,
    layout: Layout | None = None,
    requires_grad: Bool = False,
) -> None: ...
def _batch_norm_impl_index(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: Bool,
    momentum: Float,
    eps: Float,
    cudnn_enabled: Bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, PyInt]: ...
def _cast_Byte(input: Tensor, non_blocking: Bool = False) -> Tensor: ...
def _cast_Char(input: Tensor, non_blocking: Bool = False) -> Tensor: ...
def _cast_Double(input: Tensor, non_blocking: Bool = False) -> Tensor: ...
def _cast_Float(input: Tensor, non_blocking: Bool = False) -> Tensor: ...
def _cast_Half(input: Tensor, non_blocking: Bool = False) -> Tensor: ...
def _cast_Int(input: Tensor, non_blocking: Bool = False) -> Tensor: ...
def _cast_Long(input: Tensor, non_blocking: Bool = False) -> Tensor: ...
def _cast_Short(input: Tensor, non_blocking: Bool = False) -> Tensor: ...
def _chunk_cat(tensors: Tensors, dim: Int, num_chunks: Int, *, out: Tensor | None = None) -> Tensor: ...
def _coalesce(input: Tensor) -> Tensor: ...
def _compute_linear_combination(
    input: Tensor, coefficients: Tensor, *, out: Tensor | None = None
) -> Tensor: ...
def _conj(input: Tensor) -> Tensor: ...
def _conj_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def _conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def _convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: Bool,
    output_padding: Ints,
    groups: Int,
    benchmark: Bool,
    deterministic: Bool,
    cudnn_enabled: Bool,
) -> Tensor: ...
@overload
def _convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: Bool,
    output_padding: Ints,
    groups: Int,
    benchmark: Bool,
    deterministic: Bool,
    cudnn_enabled: Bool,
    allow_tf32: Bool,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def _convolution_mode(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Str,
    dilation: Ints,
    groups: Int,
) -> Tensor: ...
def _copy_from(input: Tensor, dst: Tensor, non_blocking: Bool = False) -> Tensor: ...
def _copy_from_and_resize(input: Tensor, dst: Tensor) -> Tensor: ...
@overload
def _ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Ints,
    target_lengths: Ints,
    blank: Int = 0,
    zero_infinity: Bool = False,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def _ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: Int = 0,
    zero_infinity: Bool = False,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def _ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Ints,
    target_lengths: Ints,
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: Int,
    zero_infinity: Bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def _ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: Int,
    zero_infinity: Bool = False,
) -> Tensor: ...
def _cummax_helper(input: Tensor, values: Tensor, indices: Tensor, dim: Int) -> None: ...
def _cummin_helper(input: Tensor, values: Tensor, indices: Tensor, dim: Int) -> None: ...
def _debug_has_internal_overlap(input: Tensor) -> PyInt: ...
def _dim_arange(like: Tensor, dim: Int) -> Tensor: ...
def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def _efficientzerotensor(
    size: Ints,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def _efficientzerotensor(
    *size: Int,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: Bool = False,
    mode: Int = 0,
    sparse: Bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: Bool = False,
    padding_idx: Int = -1,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def _embedding_bag_forward_only(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: Bool = False,
    mode: Int = 0,
    sparse: Bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: Bool = False,
    padding_idx: Int = -1,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def _euclidean_dist(x1: Tensor, x2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def _fft_c2c(
    input: Tensor, dim: Ints, normalization: Int, forward: Bool, *, out: Tensor | None = None
) -> Tensor: ...
def _fft_c2r(
    input: Tensor, dim: Ints, normalization: Int, last_dim_size: Int, *, out: Tensor | None = None
) -> Tensor: ...
def _fft_r2c(
    input: Tensor, dim: Ints, normalization: Int, onesided: Bool, *, out: Tensor | None = None
) -> Tensor: ...
def _foreach_abs(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_abs_(input: Tensors) -> None: ...
def _foreach_acos(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_acos_(input: Tensors) -> None: ...
@overload
def _foreach_add(input: Tensors, other: Tensors, *, alpha: Number = 1) -> tuple[Tensor, ...]: ...
@overload
def _foreach_add(input: Tensors, scalars: Numbers) -> tuple[Tensor, ...]: ...
@overload
def _foreach_add(input: Tensors, other: Tensor, *, alpha: Number = 1) -> tuple[Tensor, ...]: ...
@overload
def _foreach_add(input: Tensors, scalar: Number) -> tuple[Tensor, ...]: ...
@overload
def _foreach_add_(input: Tensors, other: Tensors, *, alpha: Number = 1) -> None: ...
@overload
def _foreach_add_(input: Tensors, scalars: Numbers) -> None: ...
@overload
def _foreach_add_(input: Tensors, other: Tensor, *, alpha: Number = 1) -> None: ...
@overload
def _foreach_add_(input: Tensors, scalar: Number) -> None: ...
@overload
def _foreach_addcdiv(
    input: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Numbers
) -> tuple[Tensor, ...]: ...
@overload
def _foreach_addcdiv(
    input: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Tensor
) -> tuple[Tensor, ...]: ...
@overload
def _foreach_addcdiv(
    input: Tensors, tensor1: Tensors, tensor2: Tensors, value: Number = 1
) -> tuple[Tensor, ...]: ...
@overload
def _foreach_addcdiv_(input: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Numbers) -> None: ...
@overload
def _foreach_addcdiv_(input: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Tensor) -> None: ...
@overload
def _foreach_addcdiv_(input: Tensors, tensor1: Tensors, tensor2: Tensors, value: Number = 1) -> None: ...
@overload
def _foreach_addcmul(
    input: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Numbers
) -> tuple[Tensor, ...]: ...
@overload
def _foreach_addcmul(
    input: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Tensor
) -> tuple[Tensor, ...]: ...
@overload
def _foreach_addcmul(
    input: Tensors, tensor1: Tensors, tensor2: Tensors, value: Number = 1
) -> tuple[Tensor, ...]: ...
@overload
def _foreach_addcmul_(input: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Numbers) -> None: ...
@overload
def _foreach_addcmul_(input: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Tensor) -> None: ...
@overload
def _foreach_addcmul_(input: Tensors, tensor1: Tensors, tensor2: Tensors, value: Number = 1) -> None: ...
def _foreach_asin(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_asin_(input: Tensors) -> None: ...
def _foreach_atan(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_atan_(input: Tensors) -> None: ...
def _foreach_ceil(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_ceil_(input: Tensors) -> None: ...
@overload
def _foreach_clamp_max(input: Tensors, other: Tensors) -> tuple[Tensor, ...]: ...
@overload
def _foreach_clamp_max(input: Tensors, scalars: Numbers) -> tuple[Tensor, ...]: ...
@overload
def _foreach_clamp_max(input: Tensors, scalar: Number) -> tuple[Tensor, ...]: ...
@overload
def _foreach_clamp_max_(input: Tensors, other: Tensors) -> None: ...
@overload
def _foreach_clamp_max_(input: Tensors, scalars: Numbers) -> None: ...
@overload
def _foreach_clamp_max_(input: Tensors, scalar: Number) -> None: ...
@overload
def _foreach_clamp_min(input: Tensors, other: Tensors) -> tuple[Tensor, ...]: ...
@overload
def _foreach_clamp_min(input: Tensors, scalars: Numbers) -> tuple[Tensor, ...]: ...
@overload
def _foreach_clamp_min(input: Tensors, scalar: Number) -> tuple[Tensor, ...]: ...
@overload
def _foreach_clamp_min_(input: Tensors, other: Tensors) -> None: ...
@overload
def _foreach_clamp_min_(input: Tensors, scalars: Numbers) -> None: ...
@overload
def _foreach_clamp_min_(input: Tensors, scalar: Number) -> None: ...
def _foreach_clone(input: Tensors, *, memory_format: MemoryFormat | None = None) -> tuple[Tensor, ...]: ...
def _foreach_copy_(input: Tensors, src: Tensors, non_blocking: Bool = False) -> None: ...
def _foreach_cos(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_cos_(input: Tensors) -> None: ...
def _foreach_cosh(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_cosh_(input: Tensors) -> None: ...
@overload
def _foreach_div(input: Tensors, other: Tensors) -> tuple[Tensor, ...]: ...
@overload
def _foreach_div(input: Tensors, scalars: Numbers) -> tuple[Tensor, ...]: ...
@overload
def _foreach_div(input: Tensors, other: Tensor) -> tuple[Tensor, ...]: ...
@overload
def _foreach_div(input: Tensors, scalar: Number) -> tuple[Tensor, ...]: ...
@overload
def _foreach_div_(input: Tensors, other: Tensors) -> None: ...
@overload
def _foreach_div_(input: Tensors, scalars: Numbers) -> None: ...
@overload
def _foreach_div_(input: Tensors, other: Tensor) -> None: ...
@overload
def _foreach_div_(input: Tensors, scalar: Number) -> None: ...
def _foreach_erf(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_erf_(input: Tensors) -> None: ...
def _foreach_erfc(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_erfc_(input: Tensors) -> None: ...
def _foreach_exp(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_exp_(input: Tensors) -> None: ...
def _foreach_expm1(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_expm1_(input: Tensors) -> None: ...
def _foreach_floor(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_floor_(input: Tensors) -> None: ...
def _foreach_frac(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_frac_(input: Tensors) -> None: ...
@overload
def _foreach_lerp(input: Tensors, tensors1: Tensors, weights: Tensors) -> tuple[Tensor, ...]: ...
@overload
def _foreach_lerp(input: Tensors, tensors1: Tensors, weight: Numbers) -> tuple[Tensor, ...]: ...
@overload
def _foreach_lerp(input: Tensors, tensors1: Tensors, weight: Number) -> tuple[Tensor, ...]: ...
@overload
def _foreach_lerp_(input: Tensors, tensors1: Tensors, weights: Tensors) -> None: ...
@overload
def _foreach_lerp_(input: Tensors, tensors1: Tensors, weight: Numbers) -> None: ...
@overload
def _foreach_lerp_(input: Tensors, tensors1: Tensors, weight: Number) -> None: ...
def _foreach_lgamma(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_lgamma_(input: Tensors) -> None: ...
def _foreach_log(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_log10(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_log10_(input: Tensors) -> None: ...
def _foreach_log1p(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_log1p_(input: Tensors) -> None: ...
def _foreach_log2(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_log2_(input: Tensors) -> None: ...
def _foreach_log_(input: Tensors) -> None: ...
def _foreach_max(input: Tensors) -> tuple[Tensor, ...]: ...
@overload
def _foreach_maximum(input: Tensors, other: Tensors) -> tuple[Tensor, ...]: ...
@overload
def _foreach_maximum(input: Tensors, scalars: Numbers) -> tuple[Tensor, ...]: ...
@overload
def _foreach_maximum(input: Tensors, scalar: Number) -> tuple[Tensor, ...]: ...
@overload
def _foreach_maximum_(input: Tensors, other: Tensors) -> None: ...
@overload
def _foreach_maximum_(input: Tensors, scalars: Numbers) -> None: ...
@overload
def _foreach_maximum_(input: Tensors, scalar: Number) -> None: ...
@overload
def _foreach_minimum(input: Tensors, other: Tensors) -> tuple[Tensor, ...]: ...
@overload
def _foreach_minimum(input: Tensors, scalars: Numbers) -> tuple[Tensor, ...]: ...
@overload
def _foreach_minimum(input: Tensors, scalar: Number) -> tuple[Tensor, ...]: ...
@overload
def _foreach_minimum_(input: Tensors, other: Tensors) -> None: ...
@overload
def _foreach_minimum_(input: Tensors, scalars: Numbers) -> None: ...
@overload
def _foreach_minimum_(input: Tensors, scalar: Number) -> None: ...
def _foreach_mm(input: Tensors, mat2: Tensors) -> tuple[Tensor, ...]: ...
@overload
def _foreach_mul(input: Tensors, other: Tensors) -> tuple[Tensor, ...]: ...
@overload
def _foreach_mul(input: Tensors, scalars: Numbers) -> tuple[Tensor, ...]: ...
@overload
def _foreach_mul(input: Tensors, other: Tensor) -> tuple[Tensor, ...]: ...
@overload
def _foreach_mul(input: Tensors, scalar: Number) -> tuple[Tensor, ...]: ...
@overload
def _foreach_mul_(input: Tensors, other: Tensors) -> None: ...
@overload
def _foreach_mul_(input: Tensors, scalars: Numbers) -> None: ...
@overload
def _foreach_mul_(input: Tensors, other: Tensor) -> None: ...
@overload
def _foreach_mul_(input: Tensors, scalar: Number) -> None: ...
def _foreach_neg(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_neg_(input: Tensors) -> None: ...
def _foreach_norm(input: Tensors, ord: Number = 2, dtype: DType | None = None) -> tuple[Tensor, ...]: ...
@overload
def _foreach_pow(input: Tensors, exponent: Tensors) -> tuple[Tensor, ...]: ...
@overload
def _foreach_pow(input: Tensors, exponent: Numbers) -> tuple[Tensor, ...]: ...
@overload
def _foreach_pow(input: Tensors, exponent: Number) -> tuple[Tensor, ...]: ...
@overload
def _foreach_pow(input: Number, exponent: Tensors) -> tuple[Tensor, ...]: ...
@overload
def _foreach_pow_(input: Tensors, exponent: Tensors) -> None: ...
@overload
def _foreach_pow_(input: Tensors, exponent: Numbers) -> None: ...
@overload
def _foreach_pow_(input: Tensors, exponent: Number) -> None: ...
def _foreach_powsum(input: Tensors, ord: Number = 2, dtype: DType | None = None) -> tuple[Tensor, ...]: ...
def _foreach_reciprocal(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_reciprocal_(input: Tensors) -> None: ...
def _foreach_round(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_round_(input: Tensors) -> None: ...
def _foreach_rsqrt(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_rsqrt_(input: Tensors) -> None: ...
def _foreach_sigmoid(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_sigmoid_(input: Tensors) -> None: ...
def _foreach_sign(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_sign_(input: Tensors) -> None: ...
def _foreach_sin(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_sin_(input: Tensors) -> None: ...
def _foreach_sinh(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_sinh_(input: Tensors) -> None: ...
def _foreach_sqrt(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_sqrt_(input: Tensors) -> None: ...
@overload
def _foreach_sub(input: Tensors, other: Tensors, *, alpha: Number = 1) -> tuple[Tensor, ...]: ...
@overload
def _foreach_sub(input: Tensors, scalars: Numbers) -> tuple[Tensor, ...]: ...
@overload
def _foreach_sub(input: Tensors, scalar: Number) -> tuple[Tensor, ...]: ...
@overload
def _foreach_sub_(input: Tensors, other: Tensors, *, alpha: Number = 1) -> None: ...
@overload
def _foreach_sub_(input: Tensors, scalars: Numbers) -> None: ...
@overload
def _foreach_sub_(input: Tensors, scalar: Number) -> None: ...
def _foreach_tan(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_tan_(input: Tensors) -> None: ...
def _foreach_tanh(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_tanh_(input: Tensors) -> None: ...
def _foreach_trunc(input: Tensors) -> tuple[Tensor, ...]: ...
def _foreach_trunc_(input: Tensors) -> None: ...
def _foreach_zero_(input: Tensors) -> None: ...
def _functional_assert_async(input: Tensor, assert_msg: Str, dep_token: Tensor) -> Tensor: ...
def _functional_assert_scalar(input: Number, assert_msg: Str, dep_token: Tensor) -> Tensor: ...
def _functional_sym_constrain_range(
    size: Number, min: Int | None, max: Int | None, dep_token: Tensor
) -> Tensor: ...
def _functional_sym_constrain_range_for_size(
    size: Number, min: Int | None, max: Int | None, dep_token: Tensor
) -> Tensor: ...
@overload
def _fused_adagrad_(
    input: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    *,
    lr: Tensor,
    lr_decay: Float,
    weight_decay: Float,
    eps: Float,
    maximize: Bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None: ...
@overload
def _fused_adagrad_(
    input: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    *,
    lr: Float,
    lr_decay: Float,
    weight_decay: Float,
    eps: Float,
    maximize: Bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None: ...
@overload
def _fused_adam_(
    input: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    *,
    lr: Tensor,
    beta1: Float,
    beta2: Float,
    weight_decay: Float,
    eps: Float,
    amsgrad: Bool,
    maximize: Bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None: ...
@overload
def _fused_adam_(
    input: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    *,
    lr: Float,
    beta1: Float,
    beta2: Float,
    weight_decay: Float,
    eps: Float,
    amsgrad: Bool,
    maximize: Bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None: ...
@overload
def _fused_adamw_(
    input: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    *,
    lr: Tensor,
    beta1: Float,
    beta2: Float,
    weight_decay: Float,
    eps: Float,
    amsgrad: Bool,
    maximize: Bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None: ...
@overload
def _fused_adamw_(
    input: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    *,
    lr: Float,
    beta1: Float,
    beta2: Float,
    weight_decay: Float,
    eps: Float,
    amsgrad: Bool,
    maximize: Bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None: ...
def _fused_rms_norm(
    input: Tensor, normalized_shape: Ints, weight: Tensor | None, eps: Float | None
) -> tuple[Tensor, Tensor]: ...
@overload
def _fused_sgd_(
    input: Tensors,
    grads: Tensors,
    momentum_buffer_list: Tensors,
    *,
    weight_decay: Float,
    momentum: Float,
    lr: Tensor,
    dampening: Float,
    nesterov: Bool,
    maximize: Bool,
    is_first_step: Bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None: ...
@overload
def _fused_sgd_(
    input: Tensors,
    grads: Tensors,
    momentum_buffer_list: Tensors,
    *,
    weight_decay: Float,
    momentum: Float,
    lr: Float,
    dampening: Float,
    nesterov: Bool,
    maximize: Bool,
    is_first_step: Bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None: ...
def _fw_primal_copy(input: Tensor, level: Int, *, out: Tensor | None = None) -> Tensor: ...
def _grid_sampler_2d_cpu_fallback(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: Int,
    padding_mode: Int,
    align_corners: Bool,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def _grouped_mm(
    input: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: DType | None = None,
) -> Tensor: ...
def _has_compatible_shallow_copy_type(input: Tensor, from_: Tensor) -> Bool: ...
@overload
def _histogramdd_bin_edges(
    input: Tensor,
    bins: Ints,
    *,
    range: Floats | None = None,
    weight: Tensor | None = None,
    density: Bool = False,
    out: Tensors | None = None,
) -> tuple[Tensor, ...]: ...
@overload
def _histogramdd_bin_edges(
    input: Tensor,
    *bins: Int,
    range: Floats | None = None,
    weight: Tensor | None = None,
    density: Bool = False,
    out: Tensors | None = None,
) -> tuple[Tensor, ...]: ...
@overload
def _histogramdd_from_bin_cts(
    input: Tensor,
    bins: Ints,
    *,
    range: Floats | None = None,
    weight: Tensor | None = None,
    density: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def _histogramdd_from_bin_cts(
    input: Tensor,
    *bins: Int,
    range: Floats | None = None,
    weight: Tensor | None = None,
    density: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def _histogramdd_from_bin_tensors(
    input: Tensor,
    bins: Tensors,
    *,
    weight: Tensor | None = None,
    density: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def _index_put_impl_(
    input: Tensor, indices: OptionalTensors, values: Tensor, accumulate: Bool = False, unsafe: Bool = False
) -> Tensor: ...
def _int_mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def _is_all_true(input: Tensor) -> Tensor: ...
def _is_any_true(input: Tensor) -> Tensor: ...
def _is_zerotensor(input: Tensor) -> Bool: ...
def _lazy_clone(input: Tensor) -> Tensor: ...
def _linalg_check_errors(info: Tensor, api_name: Str, *, is_matrix: Bool) -> None: ...
def _linalg_det(A: Tensor, *, out: Tensors | None = None) -> named_results._linalg_det: ...
def _linalg_eigh(
    A: Tensor, UPLO: Str = 'L', compute_v: Bool = True, *, out: Tensors | None = None
) -> named_results._linalg_eigh: ...
def _linalg_slogdet(A: Tensor, *, out: Tensors | None = None) -> named_results._linalg_slogdet: ...
def _linalg_solve_ex(
    A: Tensor, B: Tensor, *, left: Bool = True, check_errors: Bool = False, out: Tensors | None = None
) -> named_results._linalg_solve_ex: ...
def _linalg_svd(
    A: Tensor,
    full_matrices: Bool = False,
    compute_uv: Bool = True,
    *,
    driver: Str | None = None,
    out: Tensors | None = None,
) -> named_results._linalg_svd: ...
def _log_softmax(input: Tensor, dim: Int, half_to_float: Bool, *, out: Tensor | None = None) -> Tensor: ...
def _logcumsumexp(input: Tensor, dim: Int, *, out: Tensor | None = None) -> Tensor: ...
def _lu_with_info(
    input: Tensor, pivot: Bool = True, check_errors: Bool = True
) -> named_results._lu_with_info: ...
def _make_dual(primal: Tensor, tangent: Tensor, level: Int) -> Tensor: ...
def _make_dual_copy(primal: Tensor, tangent: Tensor, level: Int) -> Tensor: ...
def _masked_scale(input: Tensor, mask: Tensor, scale: Float, *, out: Tensor | None = None) -> Tensor: ...
def _masked_softmax(
    input: Tensor,
    mask: Tensor,
    dim: Int | None = None,
    mask_type: Int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def _native_batch_norm_legit(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: Bool,
    momentum: Float,
    eps: Float,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def _native_batch_norm_legit(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    training: Bool,
    momentum: Float,
    eps: Float,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def _native_batch_norm_legit_no_training(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: Float,
    eps: Float,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def _native_multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: Int,
    num_head: Int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: Bool = True,
    average_attn_weights: Bool = True,
    mask_type: Int | None = None,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
def _neg_view(input: Tensor) -> Tensor: ...
def _neg_view_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def _nested_tensor_from_mask(t: Tensor, mask: Tensor, mask_check: Bool = True) -> Tensor: ...
def _nested_tensor_from_mask_left_aligned(t: Tensor, mask: Tensor) -> Bool: ...
def _pack_padded_sequence(
    input: Tensor, lengths: Tensor, batch_first: Bool, *, out: Tensors | None = None
) -> tuple[Tensor, Tensor]: ...
@overload
def _pad_circular(input: Tensor, pad: Ints) -> Tensor: ...
@overload
def _pad_circular(input: Tensor, *pad: Int) -> Tensor: ...
def _pad_packed_sequence(
    data: Tensor, batch_sizes: Tensor, batch_first: Bool, padding_value: Number, total_length: Int
) -> tuple[Tensor, Tensor]: ...
def _pin_memory(input: Tensor, device: Device | None = None) -> Tensor: ...
def _prelu_kernel(input: Tensor, weight: Tensor) -> Tensor: ...
def _reshape_alias_copy(input: Tensor, size: Ints, stride: Ints, *, out: Tensor | None = None) -> Tensor: ...
def _reshape_from_tensor(input: Tensor, shape: Tensor) -> Tensor: ...
def _resize_output_(input: Tensor, size: Ints, device: Device) -> Tensor: ...
def _rowwise_prune(
    weight: Tensor, mask: Tensor, compressed_indices_dtype: DType
) -> tuple[Tensor, Tensor]: ...
def _safe_softmax(input: Tensor, dim: Int, dtype: DType | None = None) -> Tensor: ...
def _sample_dirichlet(
    input: Tensor, generator: Generator | None = None, *, out: Tensor | None = None
) -> Tensor: ...
def _saturate_weight_to_fp16(weight: Tensor) -> Tensor: ...
def _shape_as_tensor(input: Tensor) -> Tensor: ...
def _softmax(input: Tensor, dim: Int, half_to_float: Bool, *, out: Tensor | None = None) -> Tensor: ...
def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: Int, input_dtype: DType) -> Tensor: ...
def _sparse_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor: ...
def _sparse_coo_tensor_unsafe(
    indices: Tensor,
    values: Tensor,
    size: Ints,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    is_coalesced: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def _sparse_coo_tensor_with_dims(
    sparse_dim: Int,
    dense_dim: Int,
    size: Ints,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = False,
    requires_grad: Bool = False,
) -> Tensor: ...
def _sparse_coo_tensor_with_dims_and_tensors(
    sparse_dim: Int,
    dense_dim: Int,
    size: Ints,
    indices: Tensor,
    values: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = False,
    is_coalesced: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def _sparse_log_softmax(input: Tensor, dim: Int, dtype: DType | None = None) -> Tensor: ...
@overload
def _sparse_log_softmax(input: Tensor, dim: Int, half_to_float: Bool) -> Tensor: ...
def _sparse_log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: Int, input: Tensor
) -> Tensor: ...
def _sparse_mm(sparse: Tensor, dense: Tensor) -> Tensor: ...
@overload
def _sparse_softmax(input: Tensor, dim: Int, dtype: DType | None = None) -> Tensor: ...
@overload
def _sparse_softmax(input: Tensor, dim: Int, half_to_float: Bool) -> Tensor: ...
def _sparse_softmax_backward_data(grad_output: Tensor, output: Tensor, dim: Int, input: Tensor) -> Tensor: ...
def _sparse_sparse_matmul(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def _sparse_sum(input: Tensor, dim: Int | Ints) -> Tensor: ...
@overload
def _sparse_sum(input: Tensor) -> Tensor: ...
@overload
def _sparse_sum(input: Tensor, *, dtype: DType) -> Tensor: ...
@overload
def _sparse_sum(input: Tensor, dim: Int | Ints, *, dtype: DType) -> Tensor: ...
@overload
def _sparse_sum(input: Tensor, *dim: Int, dtype: DType) -> Tensor: ...
@overload
def _sparse_sum(input: Tensor, *dim: Int) -> Tensor: ...
def _sparse_sum_backward(grad: Tensor, input: Tensor, dim: Ints) -> Tensor: ...
def _stack(tensors: Tensors, dim: Int = 0, *, out: Tensor | None = None) -> Tensor: ...
def _standard_gamma(
    input: Tensor, generator: Generator | None = None, *, out: Tensor | None = None
) -> Tensor: ...
def _standard_gamma_grad(input: Tensor, output: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def _to_copy(
    input: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    non_blocking: Bool = False,
    memory_format: MemoryFormat | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def _to_copy(
    input: Tensor, *, non_blocking: Bool = False, memory_format: MemoryFormat | None = None, out: Tensor
) -> Tensor: ...
def _to_cpu(tensors: Tensors) -> tuple[Tensor, ...]: ...
def _transform_bias_rescale_qkv(
    qkv: Tensor, qkv_bias: Tensor, num_heads: Int, *, out: Tensors | None = None
) -> tuple[Tensor, Tensor, Tensor]: ...
def _transformer_encoder_layer_fwd(
    src: Tensor,
    embed_dim: Int,
    num_heads: Int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: Bool,
    norm_first: Bool,
    eps: Float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: Int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def _trilinear(
    i1: Tensor,
    i2: Tensor,
    i3: Tensor,
    expand1: Ints,
    expand2: Ints,
    expand3: Ints,
    sumdim: Ints,
    unroll_dim: Int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def _unique(
    input: Tensor, sorted: Bool = True, return_inverse: Bool = False, *, out: Tensors | None = None
) -> tuple[Tensor, Tensor]: ...
def _unique2(
    input: Tensor,
    sorted: Bool = True,
    return_inverse: Bool = False,
    return_counts: Bool = False,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def _unpack_dual(dual: Tensor, level: Int) -> named_results._unpack_dual: ...
def _unsafe_index(input: Tensor, indices: OptionalTensors) -> Tensor: ...
def _unsafe_index_put(
    input: Tensor, indices: OptionalTensors, values: Tensor, accumulate: Bool = False
) -> Tensor: ...
def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: OptionalTensors, fill: Number) -> Tensor: ...
def _unsafe_masked_index_put_accumulate(
    input: Tensor, mask: Tensor, indices: OptionalTensors, values: Tensor
) -> Tensor: ...
@overload
def _upsample_bicubic2d_aa(
    input: Tensor, output_size: Ints | None, align_corners: Bool, scale_factors: Floats | None
) -> Tensor: ...
@overload
def _upsample_bicubic2d_aa(
    input: Tensor,
    output_size: Int | Ints,
    align_corners: Bool,
    scales_h: Float | None = None,
    scales_w: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def _upsample_bilinear2d_aa(
    input: Tensor, output_size: Ints | None, align_corners: Bool, scale_factors: Floats | None
) -> Tensor: ...
@overload
def _upsample_bilinear2d_aa(
    input: Tensor,
    output_size: Int | Ints,
    align_corners: Bool,
    scales_h: Float | None = None,
    scales_w: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def _upsample_lanczos2d_aa(
    input: Tensor, output_size: Ints | None, align_corners: Bool, scale_factors: Floats | None
) -> Tensor: ...
@overload
def _upsample_lanczos2d_aa(
    input: Tensor,
    output_size: Int | Ints,
    align_corners: Bool,
    scales_h: Float | None = None,
    scales_w: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def _upsample_nearest_exact1d(
    input: Tensor, output_size: Ints | None, scale_factors: Floats | None
) -> Tensor: ...
@overload
def _upsample_nearest_exact1d(
    input: Tensor, output_size: Int | Ints, scales: Float | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def _upsample_nearest_exact2d(
    input: Tensor, output_size: Ints | None, scale_factors: Floats | None
) -> Tensor: ...
@overload
def _upsample_nearest_exact2d(
    input: Tensor,
    output_size: Int | Ints,
    scales_h: Float | None = None,
    scales_w: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def _upsample_nearest_exact3d(
    input: Tensor, output_size: Ints | None, scale_factors: Floats | None
) -> Tensor: ...
@overload
def _upsample_nearest_exact3d(
    input: Tensor,
    output_size: Int | Ints,
    scales_d: Float | None = None,
    scales_h: Float | None = None,
    scales_w: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def _validate_sparse_coo_tensor_args(
    indices: Tensor,
    values: Tensor,
    size: Ints,
    is_coalesced: Bool | None = None,
    check_pinning: Bool | None = None,
) -> None: ...
def _weight_norm(v: Tensor, g: Tensor, dim: Int = 0) -> Tensor: ...
def _weight_norm_interface(
    v: Tensor, g: Tensor, dim: Int = 0, *, out: Tensors | None = None
) -> tuple[Tensor, Tensor]: ...
def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The distance of every element from zero."""
def abs_(input: Tensor) -> Tensor: ...
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def absolute_(input: Tensor) -> Tensor: ...
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose cosine each element is, between 0 and pi."""
def acos_(input: Tensor) -> Tensor: ...
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def acosh_(input: Tensor) -> Tensor: ...
@overload
def adaptive_avg_pool1d(input: Tensor, output_size: Int | Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def adaptive_avg_pool1d(input: Tensor, *output_size: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def adaptive_avg_pool2d(input: Tensor, output_size: Int | Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def adaptive_avg_pool2d(input: Tensor, *output_size: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def adaptive_avg_pool3d(input: Tensor, output_size: Int | Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def adaptive_avg_pool3d(input: Tensor, *output_size: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def adaptive_max_pool1d(input: Tensor, output_size: Int | Ints) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool1d(input: Tensor, *output_size: Int) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: Int | Ints, *, out: Tensors | None = None
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool2d(
    input: Tensor, *output_size: Int, out: Tensors | None = None
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: Int | Ints, *, out: Tensors | None = None
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool3d(
    input: Tensor, *output_size: Int, out: Tensors | None = None
) -> tuple[Tensor, Tensor]: ...
@overload
def add(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None
) -> Tensor:
    """The sum of two tensors, or of a tensor and a number; `alpha` multiplies the second."""
@overload
def add(input: Tensor | Number, other: Number, alpha: Number = 1) -> Tensor: ...
@overload
def add_(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor: ...
@overload
def add_(input: Tensor | Number, other: Number, alpha: Number = 1) -> Tensor: ...
def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def addbmm_(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor: ...
def addcdiv(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def addcdiv_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor: ...
def addcmul(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def addcmul_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor: ...
@overload
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """A product of two matrices, added to `input`: beta * input + alpha * (mat1 @ mat2)."""
@overload
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    out_dtype: DType,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def addmm_(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
def adjoint(input: Tensor) -> Tensor: ...
def affine_grid_generator(
    theta: Tensor, size: Ints, align_corners: Bool, *, out: Tensor | None = None
) -> Tensor: ...
def alias(input: Tensor) -> Tensor: ...
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def all(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether every element is true, or nonzero; of the whole tensor or along `dim`."""
@overload
def all(input: Tensor, dim: Int, keepdim: Bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def all(input: Tensor, *, axis: Int, keepdims: Bool = False, out: Tensor | None = None) -> Tensor: ...
@overload
def all(input: Tensor, dim: Int, *, keepdims: Bool, out: Tensor | None = None) -> Tensor: ...
@overload
def all(
    input: Tensor, dim: Ints | None = None, keepdim: Bool = False, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def all(
    input: Tensor, *, axis: Ints | None = None, keepdims: Bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def all(input: Tensor, dim: Ints | None = None, *, keepdims: Bool, out: Tensor | None = None) -> Tensor: ...
def allclose(
    input: Tensor, other: Tensor, rtol: Float = 1e-05, atol: Float = 1e-08, equal_nan: Bool = False
) -> Bool:
    """Whether two tensors agree within atol + rtol * abs(other), everywhere."""
def alpha_dropout(input: Tensor, p: Float, train: Bool) -> Tensor: ...
def alpha_dropout_(input: Tensor, p: Float, train: Bool) -> Tensor: ...
@overload
def amax(
    input: Tensor, dim: Int | Ints | None = ..., keepdim: Bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The largest elements along `dim`; equal ones share the gradient."""
@overload
def amax(
    input: Tensor, *, axis: Int | Ints | None = ..., keepdims: Bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def amax(
    input: Tensor, dim: Int | Ints | None = ..., *, keepdims: Bool, out: Tensor | None = None
) -> Tensor: ...
@overload
def amin(
    input: Tensor, dim: Int | Ints | None = ..., keepdim: Bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The smallest elements along `dim`; equal ones share the gradient."""
@overload
def amin(
    input: Tensor, *, axis: Int | Ints | None = ..., keepdims: Bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def amin(
    input: Tensor, dim: Int | Ints | None = ..., *, keepdims: Bool, out: Tensor | None = None
) -> Tensor: ...
@overload
def aminmax(
    input: Tensor, *, dim: Int | None = None, keepdim: Bool = False, out: Tensors | None = None
) -> named_results.aminmax: ...
@overload
def aminmax(
    input: Tensor, *, axis: Int | None = None, keepdims: Bool = False, out: Tensors | None = None
) -> named_results.aminmax: ...
@overload
def aminmax(
    input: Tensor, *, dim: Int | None = None, keepdims: Bool, out: Tensors | None = None
) -> named_results.aminmax: ...
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def any(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether at least one element is true, or nonzero; of the whole tensor or along `dim`."""
@overload
def any(input: Tensor, dim: Int, keepdim: Bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def any(input: Tensor, *, axis: Int, keepdims: Bool = False, out: Tensor | None = None) -> Tensor: ...
@overload
def any(input: Tensor, dim: Int, *, keepdims: Bool, out: Tensor | None = None) -> Tensor: ...
@overload
def any(
    input: Tensor, dim: Ints | None = None, keepdim: Bool = False, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def any(
    input: Tensor, *, axis: Ints | None = None, keepdims: Bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def any(input: Tensor, dim: Ints | None = None, *, keepdims: Bool, out: Tensor | None = None) -> Tensor: ...
@overload
def arange(
    end: Number,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """Numbers from `start`, 0 where it is missing, up to and without `end`, `step` apart."""
@overload
def arange(
    start: Number,
    end: Number,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def arange(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arccos_(input: Tensor) -> Tensor: ...
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arccosh_(input: Tensor) -> Tensor: ...
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arcsin_(input: Tensor) -> Tensor: ...
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arcsinh_(input: Tensor) -> Tensor: ...
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arctan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arctan2_(input: Tensor, other: Tensor) -> Tensor: ...
def arctan_(input: Tensor) -> Tensor: ...
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arctanh_(input: Tensor) -> Tensor: ...
@overload
def argmax(
    input: Tensor, dim: Int | None = None, keepdim: Bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Where the largest element is: its index along `dim`, or in the flattened tensor."""
@overload
def argmax(
    input: Tensor, *, axis: Int | None = None, keepdims: Bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def argmax(input: Tensor, dim: Int | None = None, *, keepdims: Bool, out: Tensor | None = None) -> Tensor: ...
@overload
def argmin(
    input: Tensor, dim: Int | None = None, keepdim: Bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Where the smallest element is: its index along `dim`, or in the flattened tensor."""
@overload
def argmin(
    input: Tensor, *, axis: Int | None = None, keepdims: Bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def argmin(input: Tensor, dim: Int | None = None, *, keepdims: Bool, out: Tensor | None = None) -> Tensor: ...
@overload
def argsort(input: Tensor, dim: Int = -1, descending: Bool = False) -> Tensor:
    """The indices that would sort the tensor along `dim`."""
@overload
def argsort(input: Tensor, *, axis: Int = -1, descending: Bool = False) -> Tensor: ...
@overload
def argsort(
    input: Tensor, *, stable: Bool, dim: Int = -1, descending: Bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def argsort(
    input: Tensor, *, stable: Bool, axis: Int = -1, descending: Bool = False, out: Tensor | None = None
) -> Tensor: ...
def argwhere(input: Tensor) -> Tensor: ...
def as_strided(input: Tensor, size: Ints, stride: Ints, storage_offset: Int | None = None) -> Tensor: ...
def as_strided_(input: Tensor, size: Ints, stride: Ints, storage_offset: Int | None = None) -> Tensor: ...
def as_strided_copy(
    input: Tensor, size: Ints, stride: Ints, storage_offset: Int | None = None, *, out: Tensor | None = None
) -> Tensor: ...
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Ints,
    stride: Ints,
    storage_offset: Int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose sine each element is, between -pi/2 and pi/2."""
def asin_(input: Tensor) -> Tensor: ...
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def asinh_(input: Tensor) -> Tensor: ...
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose tangent each element is, between -pi/2 and pi/2."""
def atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point (other, input) seen from the origin, between -pi and pi."""
def atan2_(input: Tensor, other: Tensor) -> Tensor: ...
def atan_(input: Tensor) -> Tensor: ...
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def atanh_(input: Tensor) -> Tensor: ...
@overload
def atleast_1d(input: Tensor, /) -> Tensor: ...
@overload
def atleast_1d(tensors: Tensors, /) -> tuple[Tensor, ...]: ...
@overload
def atleast_1d(*tensors: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_2d(input: Tensor, /) -> Tensor: ...
@overload
def atleast_2d(tensors: Tensors, /) -> tuple[Tensor, ...]: ...
@overload
def atleast_2d(*tensors: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_3d(input: Tensor, /) -> Tensor: ...
@overload
def atleast_3d(tensors: Tensors, /) -> tuple[Tensor, ...]: ...
@overload
def atleast_3d(*tensors: Tensor) -> tuple[Tensor, ...]: ...
def avg_pool1d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def avg_pool2d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
    divisor_override: Int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def avg_pool3d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
    divisor_override: Int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Products of matrices, a pair for each of a batch, added to `input`."""
@overload
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    out_dtype: DType,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def baddbmm_(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor: ...
@overload
def bartlett_window(
    window_length: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def bartlett_window(
    window_length: Int,
    periodic: Bool,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: Bool,
    momentum: Float,
    eps: Float,
    cudnn_enabled: Bool,
) -> Tensor: ...
def batch_norm_elemt(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    invstd: Tensor,
    eps: Float,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def batch_norm_gather_stats(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: Float,
    eps: Float,
    count: Int,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
def batch_norm_gather_stats_with_counts(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: Float,
    eps: Float,
    counts: Tensor,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
def batch_norm_stats(input: Tensor, eps: Float, *, out: Tensors | None = None) -> tuple[Tensor, Tensor]: ...
def batch_norm_update_stats(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: Float,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Zeros and ones, drawn with the elements as probabilities of a one."""
@overload
def bernoulli(input: Tensor, *, generator: Generator | None = None, out: Tensor) -> Tensor: ...
@overload
def bernoulli(
    input: Tensor, p: Tensor, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def bernoulli(input: Tensor, p: Float, *, generator: Generator | None = None) -> Tensor: ...
@overload
def bernoulli(
    input: Tensor, p: Float = 0.5, *, generator: Generator | None = None, out: Tensor
) -> Tensor: ...
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor: ...
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: Int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: Int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def bincount(
    input: Tensor, weights: Tensor | None = None, minlength: Int = 0, *, out: Tensor | None = None
) -> Tensor:
    """How often each whole number from 0 occurs, or the sum of its weights."""
def binomial(
    count: Tensor, prob: Tensor, generator: Generator | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def bitwise_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The bits that both have."""
@overload
def bitwise_and(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_and(input: Number, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_and_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def bitwise_and_(input: Tensor, other: Number) -> Tensor: ...
@overload
def bitwise_left_shift(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_left_shift(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_left_shift(input: Number, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_left_shift_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def bitwise_left_shift_(input: Tensor, other: Number) -> Tensor: ...
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """All bits turned around; of truths, not."""
def bitwise_not_(input: Tensor) -> Tensor: ...
@overload
def bitwise_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The bits that one of the two has."""
@overload
def bitwise_or(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_or(input: Number, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_or_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def bitwise_or_(input: Tensor, other: Number) -> Tensor: ...
@overload
def bitwise_right_shift(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_right_shift(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_right_shift(input: Number, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_right_shift_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def bitwise_right_shift_(input: Tensor, other: Number) -> Tensor: ...
@overload
def bitwise_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The bits that exactly one of the two has."""
@overload
def bitwise_xor(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_xor(input: Number, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def bitwise_xor_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def bitwise_xor_(input: Tensor, other: Number) -> Tensor: ...
@overload
def blackman_window(
    window_length: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def blackman_window(
    window_length: Int,
    periodic: Bool,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def block_diag(*tensors: Tensor) -> Tensor: ...
@overload
def block_diag(tensors: Tensors, /) -> Tensor: ...
@overload
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of matrices, a pair for each of a batch."""
@overload
def bmm(input: Tensor, mat2: Tensor, out_dtype: DType, *, out: Tensor | None = None) -> Tensor: ...
def broadcast_shapes(*shapes: Int | Ints) -> Size: ...
@overload
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]: ...
@overload
def broadcast_tensors(tensors: Tensors, /) -> tuple[Tensor, ...]: ...
@overload
def broadcast_to(input: Tensor, size: Ints) -> Tensor:
    """The tensor repeated to a shape, without a copy."""
@overload
def broadcast_to(input: Tensor, *size: Int) -> Tensor: ...
@overload
def bucketize(
    input: Tensor,
    boundaries: Tensor,
    *,
    out_int32: Bool = False,
    right: Bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Which interval between sorted boundaries each element falls into."""
@overload
def bucketize(
    input: Number,
    boundaries: Tensor,
    *,
    out_int32: Bool = False,
    right: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def can_cast(from_: DType, to: DType) -> Bool: ...
@overload
def cartesian_prod(*tensors: Tensor) -> Tensor: ...
@overload
def cartesian_prod(tensors: Tensors, /) -> Tensor: ...
@overload
def cat(tensors: Tensors, dim: Int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors one after the other along `dim`, which must agree in all other dimensions."""
@overload
def cat(tensors: Tensors, *, axis: Int = 0, out: Tensor | None = None) -> Tensor: ...
def cdist(
    x1: Tensor, x2: Tensor, p: Float = 2.0, compute_mode: Str = 'use_mm_for_euclid_dist_if_necessary'
) -> Tensor: ...
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next whole number that is not smaller."""
def ceil_(input: Tensor) -> Tensor: ...
def celu(input: Tensor, alpha: Number = 1.0, *, out: Tensor | None = None) -> Tensor:
    """The element where it is positive, else alpha * (exp(x / alpha) - 1)."""
def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor: ...
@overload
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor: ...
@overload
def chain_matmul(matrices: Tensors, /, *, out: Tensor | None = None) -> Tensor: ...
def channel_shuffle(input: Tensor, groups: Int, *, out: Tensor | None = None) -> Tensor: ...
def cholesky(input: Tensor, upper: Bool = False, *, out: Tensor | None = None) -> Tensor: ...
def cholesky_inverse(input: Tensor, upper: Bool = False, *, out: Tensor | None = None) -> Tensor: ...
def cholesky_solve(
    input: Tensor, input2: Tensor, upper: Bool = False, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def chunk(input: Tensor, chunks: Int, dim: Int = 0) -> tuple[Tensor, ...]:
    """The tensor in so many views of nearly one size along `dim`."""
@overload
def chunk(input: Tensor, chunks: Int, *, axis: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def clamp(
    input: Tensor, min: Tensor | None = None, max: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Every element, but `min` where it is less and `max` where it is more."""
@overload
def clamp(
    input: Tensor, min: Number | None = None, max: Number | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def clamp_(input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor: ...
@overload
def clamp_(input: Tensor, min: Number | None = None, max: Number | None = None) -> Tensor: ...
@overload
def clamp_max(input: Tensor, max: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def clamp_max(input: Tensor, max: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def clamp_max_(input: Tensor, max: Tensor) -> Tensor: ...
@overload
def clamp_max_(input: Tensor, max: Number) -> Tensor: ...
@overload
def clamp_min(input: Tensor, min: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def clamp_min(input: Tensor, min: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def clamp_min_(input: Tensor, min: Tensor) -> Tensor: ...
@overload
def clamp_min_(input: Tensor, min: Number) -> Tensor: ...
@overload
def clip(
    input: Tensor, min: Tensor | None = None, max: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def clip(
    input: Tensor, min: Number | None = None, max: Number | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def clip_(input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor: ...
@overload
def clip_(input: Tensor, min: Number | None = None, max: Number | None = None) -> Tensor: ...
def clone(
    input: Tensor, *, memory_format: MemoryFormat | None = None, out: Tensor | None = None
) -> Tensor:
    """A copy that gradients flow through."""
def col2im(
    input: Tensor,
    output_size: Int | Ints,
    kernel_size: Int | Ints,
    dilation: Int | Ints,
    padding: Int | Ints,
    stride: Int | Ints,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def column_stack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor: ...
def combinations(input: Tensor, r: Int = 2, with_replacement: Bool = False) -> Tensor: ...
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers of a real and an imaginary part."""
@overload
def concat(tensors: Tensors, dim: Int = 0, *, out: Tensor | None = None) -> Tensor: ...
@overload
def concat(tensors: Tensors, *, axis: Int = 0, out: Tensor | None = None) -> Tensor: ...
@overload
def concatenate(tensors: Tensors, dim: Int = 0, *, out: Tensor | None = None) -> Tensor: ...
@overload
def concatenate(tensors: Tensors, *, axis: Int = 0, out: Tensor | None = None) -> Tensor: ...
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; of real tensors, the tensor itself."""
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def conj_physical_(input: Tensor) -> Tensor: ...
def constant_pad_nd(input: Tensor, pad: Ints, value: Number = 0, *, out: Tensor | None = None) -> Tensor: ...
@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor:
    """Cross-correlation along one dimension: `weight` slides over `input`."""
@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Str = 'valid',
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor: ...
@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor:
    """Cross-correlation along two dimensions: `weight` slides over images."""
@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Str = 'valid',
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor: ...
@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor:
    """Cross-correlation along three dimensions."""
@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Str = 'valid',
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor: ...
def conv_depthwise3d(
    input: Tensor,
    weight: Tensor,
    kernel_size: Int | Ints,
    bias: Tensor | None,
    stride: Int | Ints,
    padding: Int | Ints,
    dilation: Int | Ints,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def conv_tbc(
    input: Tensor, weight: Tensor, bias: Tensor, pad: Int = 0, *, out: Tensor | None = None
) -> Tensor: ...
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    output_padding: Int | Ints = ...,
    groups: Int = 1,
    dilation: Int | Ints = ...,
) -> Tensor: ...
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    output_padding: Int | Ints = ...,
    groups: Int = 1,
    dilation: Int | Ints = ...,
) -> Tensor: ...
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    output_padding: Int | Ints = ...,
    groups: Int = 1,
    dilation: Int | Ints = ...,
) -> Tensor: ...
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: Bool,
    output_padding: Ints,
    groups: Int,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def convolution_overrideable(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: Bool,
    output_padding: Ints,
    groups: Int,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def copy_sparse_to_sparse_(input: Tensor, src: Tensor, non_blocking: Bool = False) -> Tensor: ...
@overload
def copysign(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def copysign(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def copysign_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def copysign_(input: Tensor, other: Number) -> Tensor: ...
def corrcoef(input: Tensor) -> Tensor: ...
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The cosine of every element, an angle in radians."""
def cos_(input: Tensor) -> Tensor: ...
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic cosine of every element."""
def cosh_(input: Tensor) -> Tensor: ...
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: Float = 0.0, reduction: Int = 1
) -> Tensor: ...
@overload
def cosine_similarity(x1: Tensor, x2: Tensor, dim: Int = 1, eps: Float = 1e-08) -> Tensor: ...
@overload
def cosine_similarity(x1: Tensor, x2: Tensor, *, axis: Int = 1, eps: Float = 1e-08) -> Tensor: ...
@overload
def count_nonzero(input: Tensor, dim: Int | None = None, *, out: Tensor | None = None) -> Tensor:
    """How many elements are not zero, in all or along `dim`."""
@overload
def count_nonzero(input: Tensor, *, axis: Int | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def count_nonzero(input: Tensor, dim: Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def count_nonzero(input: Tensor, *dim: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def count_nonzero(input: Tensor, *, axis: Ints, out: Tensor | None = None) -> Tensor: ...
def cov(
    input: Tensor, *, correction: Int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor: ...
@overload
def cross(input: Tensor, other: Tensor, dim: Int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The vector that is orthogonal to two vectors of three numbers."""
@overload
def cross(input: Tensor, other: Tensor, *, axis: Int | None = None, out: Tensor | None = None) -> Tensor: ...
def cross_entropy_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: Int = 1,
    ignore_index: Int = -100,
    label_smoothing: Float = 0.0,
) -> Tensor: ...
@overload
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Ints,
    target_lengths: Ints,
    blank: Int = 0,
    reduction: Int = 1,
    zero_infinity: Bool = False,
) -> Tensor: ...
@overload
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: Int = 0,
    reduction: Int = 1,
    zero_infinity: Bool = False,
) -> Tensor: ...
@overload
def cummax(input: Tensor, dim: Int, *, out: Tensors | None = None) -> named_results.cummax:
    """The largest element so far along `dim`, and where it is."""
@overload
def cummax(input: Tensor, *, axis: Int, out: Tensors | None = None) -> named_results.cummax: ...
@overload
def cummin(input: Tensor, dim: Int, *, out: Tensors | None = None) -> named_results.cummin: ...
@overload
def cummin(input: Tensor, *, axis: Int, out: Tensors | None = None) -> named_results.cummin: ...
@overload
def cumprod(input: Tensor, dim: Int, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """The product of the elements so far along `dim`."""
@overload
def cumprod(input: Tensor, *, axis: Int, dtype: DType | None = None, out: Tensor | None = None) -> Tensor: ...
def cumprod_(input: Tensor, dim: Int, *, dtype: DType | None = None) -> Tensor: ...
@overload
def cumsum(input: Tensor, dim: Int, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """The sum of the elements so far along `dim`."""
@overload
def cumsum(input: Tensor, *, axis: Int, dtype: DType | None = None, out: Tensor | None = None) -> Tensor: ...
def cumsum_(input: Tensor, dim: Int, *, dtype: DType | None = None) -> Tensor: ...
@overload
def cumulative_trapezoid(y: Tensor, x: Tensor, *, dim: Int = -1) -> Tensor: ...
@overload
def cumulative_trapezoid(y: Tensor, x: Tensor, *, axis: Int = -1) -> Tensor: ...
@overload
def cumulative_trapezoid(y: Tensor, *, dx: Number = 1, dim: Int = -1) -> Tensor: ...
@overload
def cumulative_trapezoid(y: Tensor, *, dx: Number = 1, axis: Int = -1) -> Tensor: ...
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def deg2rad_(input: Tensor) -> Tensor: ...
def det(input: Tensor) -> Tensor: ...
def detach(input: Tensor) -> Tensor:
    """The same elements, without the history that gradients go back through."""
def detach_(input: Tensor) -> Tensor: ...
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def diag(input: Tensor, diagonal: Int = 0, *, out: Tensor | None = None) -> Tensor:
    """The diagonal of a matrix, or a matrix with a vector as its diagonal."""
def diag_embed(
    input: Tensor, offset: Int = 0, dim1: Int = -2, dim2: Int = -1, *, out: Tensor | None = None
) -> Tensor: ...
def diagflat(input: Tensor, offset: Int = 0) -> Tensor: ...
def diagonal(input: Tensor, offset: Int = 0, dim1: Int = 0, dim2: Int = 1) -> Tensor:
    """A view of the elements whose two indices are equal, or `offset` apart."""
def diagonal_copy(
    input: Tensor, offset: Int = 0, dim1: Int = 0, dim2: Int = 1, *, out: Tensor | None = None
) -> Tensor: ...
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: Int = 0, dim1: Int = 0, dim2: Int = 1, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def diff(
    input: Tensor,
    n: Int = 1,
    dim: Int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours along `dim`, `n` times over."""
@overload
def diff(
    input: Tensor,
    n: Int = 1,
    *,
    axis: Int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def digamma_(input: Tensor) -> Tensor: ...
def dist(input: Tensor, other: Tensor, p: Number = 2, *, out: Tensor | None = None) -> Tensor:
    """The p-norm of the difference of two tensors."""
@overload
def div(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The quotient; `rounding_mode` "trunc" or "floor" makes it whole."""
@overload
def div(
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    rounding_mode: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def div_(input: Tensor | Number, other: Tensor | Number) -> Tensor: ...
@overload
def div_(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: Str | None = None) -> Tensor: ...
@overload
def divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def divide(
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    rounding_mode: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def divide_(input: Tensor | Number, other: Tensor | Number) -> Tensor: ...
@overload
def divide_(
    input: Tensor | Number, other: Tensor | Number, *, rounding_mode: Str | None = None
) -> Tensor: ...
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of the products of two vectors."""
def dropout(input: Tensor, p: Float, train: Bool) -> Tensor:
    """Elements are zero with probability `p`, and the others larger by 1 / (1 - p), while `train` is true."""
def dropout_(input: Tensor, p: Float, train: Bool) -> Tensor: ...
@overload
def dsplit(input: Tensor, sections: Int) -> tuple[Tensor, ...]: ...
@overload
def dsplit(input: Tensor, indices: Ints) -> tuple[Tensor, ...]: ...
@overload
def dsplit(input: Tensor, *indices: Int) -> tuple[Tensor, ...]: ...
def dstack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor: ...
@overload
def einsum(equation: Str, *operands: Tensor) -> Tensor: ...
@overload
def einsum(equation: Str, operands: Tensors, /) -> Tensor: ...
@overload
def einsum(operand: Tensor, subscripts: Ints, /, *rest: Any) -> Tensor: ...
def elu(
    input: Tensor, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1, *, out: Tensor | None = None
) -> Tensor:
    """The element where it is positive, else alpha * (exp(x) - 1)."""
def elu_(input: Tensor, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1) -> Tensor: ...
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: Int = -1,
    scale_grad_by_freq: Bool = False,
    sparse: Bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The rows of `weight` that the indices name."""
@overload
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: Bool = False,
    mode: Int = 0,
    sparse: Bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: Bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
@overload
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: Bool,
    mode: Int,
    sparse: Bool,
    per_sample_weights: Tensor | None,
    include_last_offset: Bool,
    padding_idx: Int | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def embedding_dense_backward(
    grad_output: Tensor,
    indices: Tensor,
    num_weights: Int,
    padding_idx: Int,
    scale_grad_by_freq: Bool,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: Float, norm_type: Float) -> Tensor: ...
def embedding_sparse_backward(
    grad: Tensor, indices: Tensor, num_weights: Int, padding_idx: Int, scale_grad_by_freq: Bool
) -> Tensor: ...
@overload
def empty(
    size: Ints,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """A tensor of a shape whose elements are whatever memory held."""
@overload
def empty(
    *size: Int,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def empty_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """A tensor like another one whose elements are whatever memory held."""
def empty_permuted(
    size: Ints,
    physical_layout: Ints,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def empty_strided(
    size: Ints,
    stride: Ints,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def eq(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where two are equal."""
@overload
def eq(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def eq_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def eq_(input: Tensor, other: Number) -> Tensor: ...
def equal(input: Tensor, other: Tensor) -> Bool:
    """Whether two tensors have one shape and the same elements."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function of every element."""
def erf_(input: Tensor) -> Tensor: ...
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def erfc_(input: Tensor) -> Tensor: ...
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def erfinv_(input: Tensor) -> Tensor: ...
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The power of e to every element."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def exp2_(input: Tensor) -> Tensor: ...
def exp_(input: Tensor) -> Tensor: ...
@overload
def expand_copy(
    input: Tensor, size: Ints, *, implicit: Bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def expand_copy(input: Tensor, *size: Int, implicit: Bool = False, out: Tensor | None = None) -> Tensor: ...
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x) - 1, exact for small elements, too."""
def expm1_(input: Tensor) -> Tensor: ...
@overload
def eye(
    n: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """A matrix with ones on its diagonal."""
@overload
def eye(
    n: Int,
    m: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: Int, quant_min: Int, quant_max: Int
) -> Tensor: ...
@overload
def fake_quantize_per_tensor_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, quant_min: Int, quant_max: Int
) -> Tensor: ...
@overload
def fake_quantize_per_tensor_affine(
    input: Tensor, scale: Float, zero_point: Int, quant_min: Int, quant_max: Int
) -> Tensor: ...
def feature_alpha_dropout(input: Tensor, p: Float, train: Bool) -> Tensor: ...
def feature_alpha_dropout_(input: Tensor, p: Float, train: Bool) -> Tensor: ...
def feature_dropout(input: Tensor, p: Float, train: Bool) -> Tensor: ...
def feature_dropout_(input: Tensor, p: Float, train: Bool) -> Tensor: ...
@overload
def fill(input: Tensor, value: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def fill(input: Tensor, value: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def fill_(input: Tensor, value: Tensor) -> Tensor:
    """Every element becomes `value`."""
@overload
def fill_(input: Tensor, value: Number) -> Tensor: ...
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def fix_(input: Tensor) -> Tensor: ...
def flatten(input: Tensor, start_dim: Int = 0, end_dim: Int = -1) -> Tensor:
    """Dimensions from `start_dim` to `end_dim` as one."""
@overload
def flip(input: Tensor, dims: Ints, *, out: Tensor | None = None) -> Tensor:
    """The elements in the other order along `dims`."""
@overload
def flip(input: Tensor, *dims: Int, out: Tensor | None = None) -> Tensor: ...
def fliplr(input: Tensor) -> Tensor: ...
def flipud(input: Tensor) -> Tensor: ...
@overload
def float_power(input: Tensor, exponent: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def float_power(input: Tensor, exponent: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def float_power(input: Number, exponent: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def float_power_(input: Tensor, exponent: Tensor) -> Tensor: ...
@overload
def float_power_(input: Tensor, exponent: Number) -> Tensor: ...
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next whole number that is not larger."""
def floor_(input: Tensor) -> Tensor: ...
def floor_divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The quotient, rounded down."""
def floor_divide_(input: Tensor | Number, other: Tensor | Number) -> Tensor: ...
def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def fmod(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """What is left of a division, with the sign of the dividend."""
@overload
def fmod(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def fmod_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def fmod_(input: Tensor, other: Number) -> Tensor: ...
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def frac_(input: Tensor) -> Tensor: ...
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Int | Ints,
    output_size: Int | Ints,
    random_samples: Tensor,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Int | Ints,
    output_size: Int | Ints,
    random_samples: Tensor,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
def frexp(input: Tensor, *, out: Tensors | None = None) -> named_results.frexp: ...
@overload
def frobenius_norm(
    input: Tensor, dim: Int | Ints, keepdim: Bool = False, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def frobenius_norm(
    input: Tensor, *, axis: Int | Ints, keepdims: Bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def frobenius_norm(
    input: Tensor, dim: Int | Ints, *, keepdims: Bool, out: Tensor | None = None
) -> Tensor: ...
def full(
    size: Ints,
    fill_value: Number,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """A tensor of a shape, filled with one value."""
def full_like(
    input: Tensor,
    fill_value: Number,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """A tensor like another one, filled with one value."""
@overload
def gather(
    input: Tensor, dim: Int, index: Tensor, *, sparse_grad: Bool = False, out: Tensor | None = None
) -> Tensor:
    """Elements picked along `dim`, by an index for each element of the result."""
@overload
def gather(
    input: Tensor, *, axis: Int, index: Tensor, sparse_grad: Bool = False, out: Tensor | None = None
) -> Tensor: ...
def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def gcd_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def ge(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where the first is not less than the second."""
@overload
def ge(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def ge_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def ge_(input: Tensor, other: Number) -> Tensor: ...
def gelu(input: Tensor, *, approximate: Str = 'none', out: Tensor | None = None) -> Tensor:
    """Every element times the share of a normal distribution below it."""
def gelu_(input: Tensor, *, approximate: Str = 'none') -> Tensor: ...
def geqrf(input: Tensor, *, out: Tensors | None = None) -> named_results.geqrf: ...
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def glu(input: Tensor, dim: Int = -1, *, out: Tensor | None = None) -> Tensor:
    """The first half along `dim`, times the sigmoid of the second."""
@overload
def glu(input: Tensor, *, axis: Int = -1, out: Tensor | None = None) -> Tensor: ...
@overload
def gradient(
    input: Tensor, *, spacing: Number | None = None, dim: Int | None = None, edge_order: Int = 1
) -> tuple[Tensor, ...]: ...
@overload
def gradient(
    input: Tensor, *, spacing: Number | None = None, axis: Int | None = None, edge_order: Int = 1
) -> tuple[Tensor, ...]: ...
@overload
def gradient(input: Tensor, *, spacing: Number, dim: Ints, edge_order: Int = 1) -> tuple[Tensor, ...]: ...
@overload
def gradient(input: Tensor, *, spacing: Number, axis: Ints, edge_order: Int = 1) -> tuple[Tensor, ...]: ...
@overload
def gradient(input: Tensor, *, dim: Ints, edge_order: Int = 1) -> tuple[Tensor, ...]: ...
@overload
def gradient(input: Tensor, *, axis: Ints, edge_order: Int = 1) -> tuple[Tensor, ...]: ...
@overload
def gradient(
    input: Tensor, *, spacing: Numbers, dim: Int | None = None, edge_order: Int = 1
) -> tuple[Tensor, ...]: ...
@overload
def gradient(
    input: Tensor, *, spacing: Numbers, axis: Int | None = None, edge_order: Int = 1
) -> tuple[Tensor, ...]: ...
@overload
def gradient(input: Tensor, *, spacing: Numbers, dim: Ints, edge_order: Int = 1) -> tuple[Tensor, ...]: ...
@overload
def gradient(input: Tensor, *, spacing: Numbers, axis: Ints, edge_order: Int = 1) -> tuple[Tensor, ...]: ...
@overload
def gradient(
    input: Tensor, *, spacing: Tensors, dim: Int | None = None, edge_order: Int = 1
) -> tuple[Tensor, ...]: ...
@overload
def gradient(
    input: Tensor, *, spacing: Tensors, axis: Int | None = None, edge_order: Int = 1
) -> tuple[Tensor, ...]: ...
@overload
def gradient(input: Tensor, *, spacing: Tensors, dim: Ints, edge_order: Int = 1) -> tuple[Tensor, ...]: ...
@overload
def gradient(input: Tensor, *, spacing: Tensors, axis: Ints, edge_order: Int = 1) -> tuple[Tensor, ...]: ...
@overload
def greater(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def greater(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def greater_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def greater_(input: Tensor, other: Number) -> Tensor: ...
@overload
def greater_equal(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def greater_equal(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def greater_equal_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def greater_equal_(input: Tensor, other: Number) -> Tensor: ...
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: Int, padding_mode: Int, align_corners: Bool
) -> Tensor: ...
def grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: Int,
    padding_mode: Int,
    align_corners: Bool,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: Int,
    padding_mode: Int,
    align_corners: Bool,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def group_norm(
    input: Tensor,
    num_groups: Int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Float = 1e-05,
    cudnn_enabled: Bool = True,
) -> Tensor:
    """Each group of channels, shifted and scaled to mean 0 and variance 1."""
@overload
def gru(
    input: Tensor,
    hx: Tensor,
    params: Tensors,
    has_biases: Bool,
    num_layers: Int,
    dropout: Float,
    train: Bool,
    bidirectional: Bool,
    batch_first: Bool,
) -> tuple[Tensor, Tensor]: ...
@overload
def gru(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Tensors,
    has_biases: Bool,
    num_layers: Int,
    dropout: Float,
    train: Bool,
    bidirectional: Bool,
) -> tuple[Tensor, Tensor]: ...
def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor: ...
@overload
def gt(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where the first is greater than the second."""
@overload
def gt(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def gt_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def gt_(input: Tensor, other: Number) -> Tensor: ...
@overload
def hamming_window(
    window_length: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def hamming_window(
    window_length: Int,
    periodic: Bool,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def hamming_window(
    window_length: Int,
    periodic: Bool,
    alpha: Float,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def hamming_window(
    window_length: Int,
    periodic: Bool,
    alpha: Float,
    beta: Float,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def hann_window(
    window_length: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def hann_window(
    window_length: Int,
    periodic: Bool,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def hardshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor: ...
def hardsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def hardsigmoid_(input: Tensor) -> Tensor: ...
def hardswish(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def hardswish_(input: Tensor) -> Tensor: ...
def hardtanh(
    input: Tensor, min_val: Number = -1, max_val: Number = 1, *, out: Tensor | None = None
) -> Tensor: ...
def hardtanh_(input: Tensor, min_val: Number = -1, max_val: Number = 1) -> Tensor: ...
@overload
def hash_tensor(
    input: Tensor,
    dim: Int | Ints | None = ...,
    *,
    keepdim: Bool = False,
    mode: Int = 0,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def hash_tensor(
    input: Tensor, *dim: Int, keepdim: Bool = False, mode: Int = 0, out: Tensor | None = None
) -> Tensor: ...
@overload
def hash_tensor(
    input: Tensor,
    *,
    axis: Int | Ints | None = ...,
    keepdims: Bool = False,
    mode: Int = 0,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def hash_tensor(
    input: Tensor, dim: Int | Ints | None = ..., *, keepdims: Bool, mode: Int = 0, out: Tensor | None = None
) -> Tensor: ...
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def heaviside_(input: Tensor, values: Tensor) -> Tensor: ...
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: Float = 1.0, reduction: Int = 1
) -> Tensor: ...
def histc(
    input: Tensor, bins: Int = 100, min: Number = 0, max: Number = 0, *, out: Tensor | None = None
) -> Tensor:
    """How many elements fall into each of `bins` intervals of one width."""
@overload
def histogram(
    input: Tensor,
    bins: Tensor,
    *,
    weight: Tensor | None = None,
    density: Bool = False,
    out: Tensors | None = None,
) -> named_results.histogram: ...
@overload
def histogram(
    input: Tensor,
    bins: Int = 100,
    *,
    range: Floats | None = None,
    weight: Tensor | None = None,
    density: Bool = False,
    out: Tensors | None = None,
) -> named_results.histogram: ...
@overload
def histogramdd(
    input: Tensor,
    bins: Ints,
    range: Floats | None = None,
    weight: Tensor | None = None,
    density: Bool = False,
) -> named_results.histogramdd: ...
@overload
def histogramdd(
    input: Tensor, bins: Int, range: Floats | None = None, weight: Tensor | None = None, density: Bool = False
) -> named_results.histogramdd: ...
@overload
def histogramdd(
    input: Tensor,
    bins: Tensors,
    range: Floats | None = None,
    weight: Tensor | None = None,
    density: Bool = False,
) -> named_results.histogramdd: ...
@overload
def hsplit(input: Tensor, sections: Int) -> tuple[Tensor, ...]: ...
@overload
def hsplit(input: Tensor, indices: Ints) -> tuple[Tensor, ...]: ...
@overload
def hsplit(input: Tensor, *indices: Int) -> tuple[Tensor, ...]: ...
def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor: ...
def hstack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor: ...
def huber_loss(
    input: Tensor, target: Tensor, reduction: Int = 1, delta: Float = 1.0, *, out: Tensor | None = None
) -> Tensor: ...
def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def hypot_(input: Tensor, other: Tensor) -> Tensor: ...
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def i0_(input: Tensor) -> Tensor: ...
def igamma(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def igamma_(input: Tensor, other: Tensor) -> Tensor: ...
def igammac(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def igammac_(input: Tensor, other: Tensor) -> Tensor: ...
def im2col(
    input: Tensor,
    kernel_size: Int | Ints,
    dilation: Int | Ints,
    padding: Int | Ints,
    stride: Int | Ints,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def imag(input: Tensor) -> Tensor: ...
def index(input: Tensor, indices: OptionalTensors, *, out: Tensor | None = None) -> Tensor: ...
@overload
def index_add(
    input: Tensor, dim: Int, index: Tensor, source: Tensor, *, alpha: Number = 1, out: Tensor | None = None
) -> Tensor:
    """The tensor, with rows of `source` added where `index` says along `dim`."""
@overload
def index_add(
    input: Tensor, *, axis: Int, index: Tensor, source: Tensor, alpha: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def index_add_(input: Tensor, dim: Int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor: ...
@overload
def index_copy(
    input: Tensor, dim: Int, index: Tensor, source: Tensor, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def index_copy(
    input: Tensor, *, axis: Int, index: Tensor, source: Tensor, out: Tensor | None = None
) -> Tensor: ...
def index_copy_(input: Tensor, dim: Int, index: Tensor, source: Tensor) -> Tensor: ...
@overload
def index_fill(
    input: Tensor, dim: Int, index: Tensor, value: Tensor, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def index_fill(
    input: Tensor, *, axis: Int, index: Tensor, value: Tensor, out: Tensor | None = None
) -> Tensor: ...
@overload
def index_fill(
    input: Tensor, dim: Int, index: Tensor, value: Number, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def index_fill(
    input: Tensor, *, axis: Int, index: Tensor, value: Number, out: Tensor | None = None
) -> Tensor: ...
@overload
def index_fill_(input: Tensor, dim: Int, index: Tensor, value: Tensor) -> Tensor: ...
@overload
def index_fill_(input: Tensor, dim: Int, index: Tensor, value: Number) -> Tensor: ...
def index_put(
    input: Tensor,
    indices: OptionalTensors,
    values: Tensor,
    accumulate: Bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def index_put_(
    input: Tensor, indices: OptionalTensors, values: Tensor, accumulate: Bool = False
) -> Tensor: ...
@overload
def index_reduce(
    input: Tensor,
    dim: Int,
    index: Tensor,
    source: Tensor,
    reduce: Str,
    *,
    include_self: Bool = True,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def index_reduce(
    input: Tensor,
    *,
    axis: Int,
    index: Tensor,
    source: Tensor,
    reduce: Str,
    include_self: Bool = True,
    out: Tensor | None = None,
) -> Tensor: ...
def index_reduce_(
    input: Tensor, dim: Int, index: Tensor, source: Tensor, reduce: Str, *, include_self: Bool = True
) -> Tensor: ...
@overload
def index_select(input: Tensor, dim: Int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The entries along `dim` that `index` names."""
@overload
def index_select(input: Tensor, *, axis: Int, index: Tensor, out: Tensor | None = None) -> Tensor: ...
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: Bool,
    momentum: Float,
    eps: Float,
    cudnn_enabled: Bool,
) -> Tensor: ...
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def is_conj(input: Tensor) -> Bool: ...
def is_distributed(input: Tensor) -> Bool: ...
def is_inference(input: Tensor) -> Bool: ...
def is_neg(input: Tensor) -> Bool: ...
def is_nonzero(input: Tensor) -> Bool: ...
def is_same_size(input: Tensor, other: Tensor) -> Bool: ...
def is_signed(input: Tensor) -> Bool: ...
def isclose(
    input: Tensor, other: Tensor, rtol: Float = 1e-05, atol: Float = 1e-08, equal_nan: Bool = False
) -> Tensor: ...
def isfinite(input: Tensor) -> Tensor:
    """Where elements are neither infinite nor NaN."""
@overload
def isin(
    elements: Tensor,
    test_elements: Tensor,
    *,
    assume_unique: Bool = False,
    invert: Bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Where elements are among `test_elements`."""
@overload
def isin(
    elements: Tensor,
    test_element: Number,
    *,
    assume_unique: Bool = False,
    invert: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def isin(
    element: Number,
    test_elements: Tensor,
    *,
    assume_unique: Bool = False,
    invert: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def isinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where elements are infinite."""
def isnan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where elements are NaN."""
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def isreal(input: Tensor) -> Tensor: ...
def istft(
    input: Tensor,
    n_fft: Int,
    hop_length: Int | None = None,
    win_length: Int | None = None,
    window: Tensor | None = None,
    center: Bool = True,
    normalized: Bool = False,
    onesided: Bool | None = None,
    length: Int | None = None,
    return_complex: Bool = False,
) -> Tensor: ...
@overload
def kaiser_window(
    window_length: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def kaiser_window(
    window_length: Int,
    periodic: Bool,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def kaiser_window(
    window_length: Int,
    periodic: Bool,
    beta: Float,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def kl_div(input: Tensor, target: Tensor, reduction: Int = 1, *, log_target: Bool = False) -> Tensor: ...
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def kthvalue(
    input: Tensor, k: Int, dim: Int = -1, keepdim: Bool = False, *, out: Tensors | None = None
) -> named_results.kthvalue:
    """The k-th smallest element along `dim`, and where it is."""
@overload
def kthvalue(
    input: Tensor, k: Int, *, axis: Int = -1, keepdims: Bool = False, out: Tensors | None = None
) -> named_results.kthvalue: ...
@overload
def kthvalue(
    input: Tensor, k: Int, dim: Int = -1, *, keepdims: Bool, out: Tensors | None = None
) -> named_results.kthvalue: ...
def l1_loss(input: Tensor, target: Tensor, reduction: Int = 1) -> Tensor: ...
def layer_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Float = 1e-05,
    cudnn_enable: Bool = True,
) -> Tensor:
    """The last dimensions, shifted and scaled to mean 0 and variance 1, then by `weight` and `bias`."""
def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def lcm_(input: Tensor, other: Tensor) -> Tensor: ...
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def ldexp_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def le(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where the first is not greater than the second."""
@overload
def le(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def le_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def le_(input: Tensor, other: Number) -> Tensor: ...
def leaky_relu(input: Tensor, negative_slope: Number = 0.01, *, out: Tensor | None = None) -> Tensor: ...
def leaky_relu_(input: Tensor, negative_slope: Number = 0.01) -> Tensor: ...
@overload
def lerp(input: Tensor, end: Tensor, weight: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The point between `input` and `end` that `weight` names: 0 is the one, 1 the other."""
@overload
def lerp(input: Tensor, end: Tensor, weight: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def lerp_(input: Tensor, end: Tensor, weight: Tensor) -> Tensor: ...
@overload
def lerp_(input: Tensor, end: Tensor, weight: Number) -> Tensor: ...
@overload
def less(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def less(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def less_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def less_(input: Tensor, other: Number) -> Tensor: ...
@overload
def less_equal(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def less_equal(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def less_equal_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def less_equal_(input: Tensor, other: Number) -> Tensor: ...
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def lgamma_(input: Tensor) -> Tensor: ...
def lift_fresh(input: Tensor) -> Tensor: ...
def lift_fresh_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """input @ weight.T + bias."""
@overload
def linspace(
    start: Tensor,
    end: Tensor,
    steps: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """`steps` numbers of one distance, from `start` to `end`, both included."""
@overload
def linspace(
    start: Tensor,
    end: Number,
    steps: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def linspace(
    start: Number,
    end: Tensor,
    steps: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def linspace(
    start: Number,
    end: Number,
    steps: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The natural logarithm of every element."""
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 10 of every element."""
def log10_(input: Tensor) -> Tensor: ...
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(1 + x), exact for small elements, too."""
def log1p_(input: Tensor) -> Tensor: ...
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 2 of every element."""
def log2_(input: Tensor) -> Tensor: ...
def log_(input: Tensor) -> Tensor: ...
def log_sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def log_softmax(
    input: Tensor, dim: Int, dtype: DType | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The logarithm of `softmax`, computed so that nothing overflows."""
@overload
def log_softmax(
    input: Tensor, *, axis: Int, dtype: DType | None = None, out: Tensor | None = None
) -> Tensor: ...
def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def logcumsumexp(input: Tensor, dim: Int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def logcumsumexp(input: Tensor, *, axis: Int, out: Tensor | None = None) -> Tensor: ...
def logdet(input: Tensor) -> Tensor: ...
def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where both are true, or nonzero."""
def logical_and_(input: Tensor, other: Tensor) -> Tensor: ...
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where elements are false, or zero."""
def logical_not_(input: Tensor) -> Tensor: ...
def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where one of the two is true, or nonzero."""
def logical_or_(input: Tensor, other: Tensor) -> Tensor: ...
def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def logical_xor_(input: Tensor, other: Tensor) -> Tensor: ...
def logit(input: Tensor, eps: Float | None = None, *, out: Tensor | None = None) -> Tensor: ...
def logit_(input: Tensor, eps: Float | None = None) -> Tensor: ...
@overload
def logspace(
    start: Tensor,
    end: Tensor,
    steps: Int,
    base: Float = 10.0,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def logspace(
    start: Tensor,
    end: Number,
    steps: Int,
    base: Float = 10.0,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def logspace(
    start: Number,
    end: Tensor,
    steps: Int,
    base: Float = 10.0,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def logspace(
    start: Number,
    end: Number,
    steps: Int,
    base: Float = 10.0,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def logsumexp(
    input: Tensor, dim: Int | Ints, keepdim: Bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The logarithm of the sum of exponentials along `dim`, computed so that nothing overflows."""
@overload
def logsumexp(
    input: Tensor, *, axis: Int | Ints, keepdims: Bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def logsumexp(input: Tensor, dim: Int | Ints, *, keepdims: Bool, out: Tensor | None = None) -> Tensor: ...
@overload
def lstm(
    input: Tensor,
    hx: Tensors,
    params: Tensors,
    has_biases: Bool,
    num_layers: Int,
    dropout: Float,
    train: Bool,
    bidirectional: Bool,
    batch_first: Bool,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def lstm(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensors,
    params: Tensors,
    has_biases: Bool,
    num_layers: Int,
    dropout: Float,
    train: Bool,
    bidirectional: Bool,
) -> tuple[Tensor, Tensor, Tensor]: ...
def lstm_cell(
    input: Tensor,
    hx: Tensors,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def lt(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where the first is less than the second."""
@overload
def lt(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def lt_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def lt_(input: Tensor, other: Number) -> Tensor: ...
@overload
def lu(
    input: Tensor, pivot: Bool = True, *, get_infos: Literal[False] = False, out: Tensors | None = None
) -> tuple[Tensor, Tensor]: ...
@overload
def lu(
    input: Tensor, pivot: Bool = True, *, get_infos: Literal[True], out: Tensors | None = None
) -> tuple[Tensor, Tensor, Tensor]: ...
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: Bool = True,
    unpack_pivots: Bool = True,
    *,
    out: Tensors | None = None,
) -> named_results.lu_unpack: ...
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: Float = 0.0, reduction: Int = 1
) -> Tensor: ...
@overload
def masked_fill(input: Tensor, mask: Tensor, value: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tensor, with `value` where `mask` is true."""
@overload
def masked_fill(input: Tensor, mask: Tensor, value: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def masked_fill_(input: Tensor, mask: Tensor, value: Tensor) -> Tensor: ...
@overload
def masked_fill_(input: Tensor, mask: Tensor, value: Number) -> Tensor: ...
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor: ...
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements where `mask` is true, in one dimension."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of matrices, vectors, or batches of them, as `@` makes it."""
def matrix_exp(input: Tensor) -> Tensor: ...
def matrix_power(input: Tensor, n: Int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The largest element; with `dim` the largest along it and where they are; of two tensors, the larger of each pair."""
@overload
def max(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(
    input: Tensor, dim: Int, keepdim: Bool = False, *, out: Tensors | None = None
) -> named_results.max: ...
@overload
def max(
    input: Tensor, *, axis: Int, keepdims: Bool = False, out: Tensors | None = None
) -> named_results.max: ...
@overload
def max(input: Tensor, dim: Int, *, keepdims: Bool, out: Tensors | None = None) -> named_results.max: ...
def max_pool1d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    ceil_mode: Bool = False,
) -> Tensor: ...
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    ceil_mode: Bool = False,
) -> tuple[Tensor, Tensor]: ...
def max_pool2d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    ceil_mode: Bool = False,
) -> Tensor: ...
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    ceil_mode: Bool = False,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
def max_pool3d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    ceil_mode: Bool = False,
) -> Tensor: ...
def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    ceil_mode: Bool = False,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
def max_unpool2d(
    input: Tensor, indices: Tensor, output_size: Int | Ints, *, out: Tensor | None = None
) -> Tensor: ...
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    output_size: Int | Ints,
    stride: Int | Ints,
    padding: Int | Ints,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def maximum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger of each pair of elements; NaN where one is."""
@overload
def mean(input: Tensor, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """The average of all elements, or along `dim`."""
@overload
def mean(
    input: Tensor,
    dim: Int | Ints | None,
    keepdim: Bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def mean(
    input: Tensor,
    *,
    axis: Int | Ints | None,
    keepdims: Bool = False,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def mean(
    input: Tensor,
    dim: Int | Ints | None,
    *,
    keepdims: Bool,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def median(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The middle element in order, the lower one of two; along `dim` with its index."""
@overload
def median(
    input: Tensor, dim: Int, keepdim: Bool = False, *, out: Tensors | None = None
) -> named_results.median: ...
@overload
def median(
    input: Tensor, *, axis: Int, keepdims: Bool = False, out: Tensors | None = None
) -> named_results.median: ...
@overload
def median(
    input: Tensor, dim: Int, *, keepdims: Bool, out: Tensors | None = None
) -> named_results.median: ...
@overload
def meshgrid(*tensors: Tensor, indexing: Str | None = None) -> tuple[Tensor, ...]: ...
@overload
def meshgrid(tensors: Tensors, /, *, indexing: Str | None = None) -> tuple[Tensor, ...]: ...
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smallest element; with `dim` the smallest along it and where they are; of two tensors, the smaller of each pair."""
@overload
def min(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(
    input: Tensor, dim: Int, keepdim: Bool = False, *, out: Tensors | None = None
) -> named_results.min: ...
@overload
def min(
    input: Tensor, *, axis: Int, keepdims: Bool = False, out: Tensors | None = None
) -> named_results.min: ...
@overload
def min(input: Tensor, dim: Int, *, keepdims: Bool, out: Tensors | None = None) -> named_results.min: ...
def minimum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of each pair of elements; NaN where one is."""
def mish(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def mish_(input: Tensor) -> Tensor: ...
def mkldnn_rnn_layer(
    input: Tensor,
    weight0: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    hx_: Tensor,
    cx_: Tensor,
    reverse: Bool,
    batch_sizes: Ints,
    mode: Int,
    hidden_size: Int,
    num_layers: Int,
    has_biases: Bool,
    bidirectional: Bool,
    batch_first: Bool,
    train: Bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
@overload
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices."""
@overload
def mm(input: Tensor, mat2: Tensor, out_dtype: DType, *, out: Tensor | None = None) -> Tensor: ...
@overload
def mode(
    input: Tensor, dim: Int = -1, keepdim: Bool = False, *, out: Tensors | None = None
) -> named_results.mode: ...
@overload
def mode(
    input: Tensor, *, axis: Int = -1, keepdims: Bool = False, out: Tensors | None = None
) -> named_results.mode: ...
@overload
def mode(
    input: Tensor, dim: Int = -1, *, keepdims: Bool, out: Tensors | None = None
) -> named_results.mode: ...
@overload
def moveaxis(input: Tensor, source: Ints, destination: Ints) -> Tensor: ...
@overload
def moveaxis(input: Tensor, source: Int, destination: Int) -> Tensor: ...
@overload
def movedim(input: Tensor, source: Int, destination: Int) -> Tensor:
    """The tensor with dimensions moved to other places."""
@overload
def movedim(input: Tensor, source: Ints, destination: Ints) -> Tensor: ...
def mse_loss(input: Tensor, target: Tensor, reduction: Int = 1, *, out: Tensor | None = None) -> Tensor: ...
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def mul(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The product of two tensors, or of a tensor and a number, element by element."""
def mul_(input: Tensor | Number, other: Tensor | Number) -> Tensor: ...
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: Number = 1,
    margin: Number = 1,
    weight: Tensor | None = None,
    reduction: Int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def multilabel_margin_loss(
    input: Tensor, target: Tensor, reduction: Int = 1, *, out: Tensor | None = None
) -> Tensor: ...
def multinomial(
    input: Tensor,
    num_samples: Int,
    replacement: Bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Indices drawn with the elements as weights."""
def multiply(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def multiply_(input: Tensor | Number, other: Tensor | Number) -> Tensor: ...
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a matrix and a vector."""
def mvlgamma(input: Tensor, p: Int, *, out: Tensor | None = None) -> Tensor: ...
def mvlgamma_(input: Tensor, p: Int) -> Tensor: ...
def nan_to_num(
    input: Tensor,
    nan: Float | None = None,
    posinf: Float | None = None,
    neginf: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The tensor with numbers in place of NaN and infinities."""
def nan_to_num_(
    input: Tensor, nan: Float | None = None, posinf: Float | None = None, neginf: Float | None = None
) -> Tensor: ...
@overload
def nanmean(
    input: Tensor,
    dim: Int | Ints | None = None,
    keepdim: Bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nanmean(
    input: Tensor,
    *,
    axis: Int | Ints | None = None,
    keepdims: Bool = False,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nanmean(
    input: Tensor,
    dim: Int | Ints | None = None,
    *,
    keepdims: Bool,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nanmedian(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def nanmedian(
    input: Tensor, dim: Int, keepdim: Bool = False, *, out: Tensors | None = None
) -> named_results.nanmedian: ...
@overload
def nanmedian(
    input: Tensor, *, axis: Int, keepdims: Bool = False, out: Tensors | None = None
) -> named_results.nanmedian: ...
@overload
def nanmedian(
    input: Tensor, dim: Int, *, keepdims: Bool, out: Tensors | None = None
) -> named_results.nanmedian: ...
@overload
def nanquantile(
    input: Tensor,
    q: Tensor,
    dim: Int | None = None,
    keepdim: Bool = False,
    *,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nanquantile(
    input: Tensor,
    q: Tensor,
    *,
    axis: Int | None = None,
    keepdims: Bool = False,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nanquantile(
    input: Tensor,
    q: Tensor,
    dim: Int | None = None,
    *,
    keepdims: Bool,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nanquantile(
    input: Tensor,
    q: Float,
    dim: Int | None = None,
    keepdim: Bool = False,
    *,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nanquantile(
    input: Tensor,
    q: Float,
    *,
    axis: Int | None = None,
    keepdims: Bool = False,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nanquantile(
    input: Tensor,
    q: Float,
    dim: Int | None = None,
    *,
    keepdims: Bool,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nansum(
    input: Tensor,
    dim: Int | Ints | None = None,
    keepdim: Bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nansum(
    input: Tensor,
    *,
    axis: Int | Ints | None = None,
    keepdims: Bool = False,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nansum(
    input: Tensor,
    dim: Int | Ints | None = None,
    *,
    keepdims: Bool,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def narrow(input: Tensor, dim: Int, start: Int, length: Int) -> Tensor:
    """A view of `length` entries along `dim` from `start`."""
@overload
def narrow(input: Tensor, *, axis: Int, start: Int, length: Int) -> Tensor: ...
@overload
def narrow(input: Tensor, dim: Int, start: Tensor, length: Int) -> Tensor: ...
@overload
def narrow(input: Tensor, *, axis: Int, start: Tensor, length: Int) -> Tensor: ...
@overload
def narrow_copy(input: Tensor, dim: Int, start: Int, length: Int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def narrow_copy(
    input: Tensor, *, axis: Int, start: Int, length: Int, out: Tensor | None = None
) -> Tensor: ...
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: Bool,
    momentum: Float,
    eps: Float,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_batch_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
    train: Bool,
    eps: Float,
    output_mask: Bool | Bools,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_channel_shuffle(input: Tensor, groups: Int) -> Tensor: ...
def native_dropout(
    input: Tensor, p: Float, train: Bool | None, *, out: Tensors | None = None
) -> tuple[Tensor, Tensor]: ...
def native_dropout_backward(
    grad_output: Tensor, mask: Tensor, scale: Float, *, out: Tensor | None = None
) -> Tensor: ...
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: Int,
    C: Int,
    HxW: Int,
    group: Int,
    eps: Float,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_group_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: Int,
    C: Int,
    HxW: Int,
    group: Int,
    output_mask: Bool | Bools,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_layer_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: Float,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_layer_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Ints,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: Bool | Bools,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def native_norm(input: Tensor, p: Number = 2, *, out: Tensor | None = None) -> Tensor: ...
@overload
def native_norm(
    input: Tensor,
    p: Number | None,
    dim: Int | Ints,
    keepdim: Bool,
    dtype: DType | None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def native_norm(
    input: Tensor,
    p: Number | None,
    *,
    axis: Int | Ints,
    keepdims: Bool,
    dtype: DType | None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def native_norm(
    input: Tensor,
    p: Number | None,
    dim: Int | Ints,
    *,
    keepdims: Bool,
    dtype: DType | None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def ne(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where two differ."""
@overload
def ne(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def ne_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def ne_(input: Tensor, other: Number) -> Tensor: ...
def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Every element with the other sign."""
def neg_(input: Tensor) -> Tensor: ...
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def negative_(input: Tensor) -> Tensor: ...
def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def nextafter_(input: Tensor, other: Tensor) -> Tensor: ...
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: Int = 1,
    ignore_index: Int = -100,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def nll_loss_nd(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: Int = 1, ignore_index: Int = -100
) -> Tensor: ...
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None) -> Tensor:
    """The indices of the elements that are not zero, a row for each; with `as_tuple` a tensor for each dimension."""
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
def nonzero_numpy(input: Tensor) -> tuple[Tensor, ...]: ...
def nonzero_static(
    input: Tensor, *, size: Int, fill_value: Int = -1, out: Tensor | None = None
) -> Tensor: ...
def norm(
    input: Tensor,
    p: Number | Str | None = 'fro',
    dim: Int | Ints | None = None,
    keepdim: Bool = False,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Tensor: ...
@overload
def norm_except_dim(v: Tensor, pow: Int = 2, dim: Int = 0) -> Tensor: ...
@overload
def norm_except_dim(v: Tensor, pow: Int = 2, *, axis: Int = 0) -> Tensor: ...
@overload
def normal(
    mean: Tensor, std: Tensor, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """Numbers drawn from normal distributions of these means and standard deviations."""
@overload
def normal(
    mean: Tensor, std: Float = 1.0, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def normal(
    mean: Float, std: Tensor, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def normal(
    mean: Float,
    std: Float,
    size: Ints,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def normal(
    mean: Float, std: Float, size: Ints, *, generator: Generator | None = None, out: Tensor
) -> Tensor: ...
@overload
def normal(
    input: Tensor, mean: Float = 0.0, std: Float = 1.0, *, generator: Generator | None = None, out: Tensor
) -> Tensor: ...
@overload
def not_equal(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def not_equal(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def not_equal_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def not_equal_(input: Tensor, other: Number) -> Tensor: ...
@overload
def nuclear_norm(input: Tensor, keepdim: Bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def nuclear_norm(input: Tensor, *, keepdims: Bool, out: Tensor | None = None) -> Tensor: ...
@overload
def nuclear_norm(
    input: Tensor, dim: Int | Ints, keepdim: Bool = False, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def nuclear_norm(
    input: Tensor, *, axis: Int | Ints, keepdims: Bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def nuclear_norm(input: Tensor, dim: Int | Ints, *, keepdims: Bool, out: Tensor | None = None) -> Tensor: ...
def one_hot(input: Tensor, num_classes: Int = -1) -> Tensor:
    """For each index a row with a one in its place."""
@overload
def ones(
    size: Ints,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """A tensor of a shape, filled with ones."""
@overload
def ones(
    *size: Int,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def ones_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """A tensor like another one, filled with ones."""
def orgqr(input: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def ormqr(
    input: Tensor,
    input2: Tensor,
    input3: Tensor,
    left: Bool = True,
    transpose: Bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of each element of one vector with each of another."""
def pad(input: Tensor, pad: Ints, mode: Str = 'constant', value: Float | None = None) -> Tensor:
    """The tensor with more elements at its borders; the first two numbers are for the last dimension."""
def pad_sequence(
    sequences: Tensors, batch_first: Bool = False, padding_value: Float = 0.0, padding_side: Str = 'right'
) -> Tensor: ...
@overload
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: Float = 2.0, eps: Float = 1e-06, keepdim: Bool = False
) -> Tensor: ...
@overload
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: Float = 2.0, eps: Float = 1e-06, *, keepdims: Bool
) -> Tensor: ...
def pdist(input: Tensor, p: Float = 2.0) -> Tensor: ...
@overload
def permute(input: Tensor, dims: Ints) -> Tensor:
    """A view with its dimensions in another order."""
@overload
def permute(input: Tensor, *dims: Int) -> Tensor: ...
@overload
def permute_copy(input: Tensor, dims: Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def permute_copy(input: Tensor, *dims: Int, out: Tensor | None = None) -> Tensor: ...
def pinverse(input: Tensor, rcond: Float = 1e-15) -> Tensor: ...
def pixel_shuffle(input: Tensor, upscale_factor: Int, *, out: Tensor | None = None) -> Tensor: ...
def pixel_unshuffle(input: Tensor, downscale_factor: Int, *, out: Tensor | None = None) -> Tensor: ...
def poisson(input: Tensor, generator: Generator | None = None, *, out: Tensor | None = None) -> Tensor: ...
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: Bool, full: Bool, eps: Float, reduction: Int
) -> Tensor: ...
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def polygamma(n: Int, input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def positive(input: Tensor) -> Tensor: ...
@overload
def pow(input: Tensor, exponent: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Every element to the power of `exponent`."""
@overload
def pow(input: Tensor, exponent: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def pow(input: Number, exponent: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def pow_(input: Tensor, exponent: Tensor) -> Tensor: ...
@overload
def pow_(input: Tensor, exponent: Number) -> Tensor: ...
def prelu(input: Tensor, weight: Tensor) -> Tensor: ...
@overload
def prod(input: Tensor, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """The product of all elements, or along `dim`."""
@overload
def prod(
    input: Tensor, dim: Int, keepdim: Bool = False, *, dtype: DType | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def prod(
    input: Tensor, *, axis: Int, keepdims: Bool = False, dtype: DType | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def prod(
    input: Tensor, dim: Int, *, keepdims: Bool, dtype: DType | None = None, out: Tensor | None = None
) -> Tensor: ...
def promote_types(type1: DType, type2: DType) -> dtype: ...
def put(
    input: Tensor, index: Tensor, source: Tensor, accumulate: Bool = False, *, out: Tensor | None = None
) -> Tensor: ...
def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: Bool = False) -> Tensor: ...
def qr(input: Tensor, some: Bool = True, *, out: Tensors | None = None) -> named_results.qr: ...
@overload
def quantile(
    input: Tensor,
    q: Tensor,
    dim: Int | None = None,
    keepdim: Bool = False,
    *,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor:
    """The values below which shares `q` of the elements lie."""
@overload
def quantile(
    input: Tensor,
    q: Tensor,
    *,
    axis: Int | None = None,
    keepdims: Bool = False,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def quantile(
    input: Tensor,
    q: Tensor,
    dim: Int | None = None,
    *,
    keepdims: Bool,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def quantile(
    input: Tensor,
    q: Float,
    dim: Int | None = None,
    keepdim: Bool = False,
    *,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def quantile(
    input: Tensor,
    q: Float,
    *,
    axis: Int | None = None,
    keepdims: Bool = False,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def quantile(
    input: Tensor,
    q: Float,
    dim: Int | None = None,
    *,
    keepdims: Bool,
    interpolation: Str = 'linear',
    out: Tensor | None = None,
) -> Tensor: ...
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def rad2deg_(input: Tensor) -> Tensor: ...
@overload
def rand(
    size: Ints,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """Numbers drawn evenly between 0 and 1."""
@overload
def rand(
    *size: Int,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def rand(
    size: Ints,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def rand(
    *size: Int,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def rand(size: Ints, *, out: Tensor) -> Tensor: ...
@overload
def rand(*size: Int, out: Tensor) -> Tensor: ...
@overload
def rand(size: Ints, *, generator: Generator | None = None, out: Tensor) -> Tensor: ...
@overload
def rand(*size: Int, generator: Generator | None = None, out: Tensor) -> Tensor: ...
@overload
def rand_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """A tensor like another one, of numbers drawn evenly between 0 and 1."""
@overload
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def rand_like(input: Tensor, *, memory_format: MemoryFormat | None = None, out: Tensor) -> Tensor: ...
@overload
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    memory_format: MemoryFormat | None = None,
    out: Tensor,
) -> Tensor: ...
@overload
def randint(
    high: Int,
    size: Ints,
    *,
    dtype: DType | None = ...,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """Whole numbers drawn evenly from `low`, 0 where it is missing, up to and without `high`."""
@overload
def randint(
    high: Int,
    size: Ints,
    *,
    generator: Generator | None = None,
    dtype: DType | None = ...,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randint(
    low: Int,
    high: Int,
    size: Ints,
    *,
    dtype: DType | None = ...,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randint(
    low: Int,
    high: Int,
    size: Ints,
    *,
    generator: Generator | None = None,
    dtype: DType | None = ...,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randint(high: Int, size: Ints, *, out: Tensor) -> Tensor: ...
@overload
def randint(high: Int, size: Ints, *, generator: Generator | None = None, out: Tensor) -> Tensor: ...
@overload
def randint(low: Int, high: Int, size: Ints, *, out: Tensor) -> Tensor: ...
@overload
def randint(
    low: Int, high: Int, size: Ints, *, generator: Generator | None = None, out: Tensor
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    high: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    high: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    low: Int,
    high: Int,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    high: Int,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    high: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    low: Int,
    high: Int,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor, high: Int, *, memory_format: MemoryFormat | None = None, out: Tensor
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    high: Int,
    *,
    generator: Generator | None = None,
    memory_format: MemoryFormat | None = None,
    out: Tensor,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor, high: Tensor, *, memory_format: MemoryFormat | None = None, out: Tensor
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    high: Tensor,
    *,
    generator: Generator | None = None,
    memory_format: MemoryFormat | None = None,
    out: Tensor,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor, low: Int, high: Int, *, memory_format: MemoryFormat | None = None, out: Tensor
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    low: Int,
    high: Int,
    *,
    generator: Generator | None = None,
    memory_format: MemoryFormat | None = None,
    out: Tensor,
) -> Tensor: ...
@overload
def randn(
    size: Ints,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """Numbers drawn from the normal distribution of mean 0 and variance 1."""
@overload
def randn(
    *size: Int,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randn(
    size: Ints,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randn(
    *size: Int,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randn(size: Ints, *, out: Tensor) -> Tensor: ...
@overload
def randn(*size: Int, out: Tensor) -> Tensor: ...
@overload
def randn(size: Ints, *, generator: Generator | None = None, out: Tensor) -> Tensor: ...
@overload
def randn(*size: Int, generator: Generator | None = None, out: Tensor) -> Tensor: ...
@overload
def randn_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randn_like(input: Tensor, *, memory_format: MemoryFormat | None = None, out: Tensor) -> Tensor: ...
@overload
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    memory_format: MemoryFormat | None = None,
    out: Tensor,
) -> Tensor: ...
@overload
def randperm(
    n: Int,
    *,
    dtype: DType | None = ...,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """The whole numbers below `n` in random order."""
@overload
def randperm(
    n: Int,
    *,
    generator: Generator | None = None,
    dtype: DType | None = ...,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def randperm(n: Int, *, out: Tensor) -> Tensor: ...
@overload
def randperm(n: Int, *, generator: Generator | None = None, out: Tensor) -> Tensor: ...
@overload
def range(
    start: Number,
    end: Number,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def range(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def ravel(input: Tensor) -> Tensor: ...
def real(input: Tensor) -> Tensor: ...
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One divided by every element."""
def reciprocal_(input: Tensor) -> Tensor: ...
@overload
def reflection_pad1d(input: Tensor, padding: Int | Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def reflection_pad1d(input: Tensor, *padding: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def reflection_pad2d(input: Tensor, padding: Int | Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def reflection_pad2d(input: Tensor, *padding: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def reflection_pad3d(input: Tensor, padding: Int | Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def reflection_pad3d(input: Tensor, *padding: Int, out: Tensor | None = None) -> Tensor: ...
def relu(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The element where it is positive, else 0."""
def relu6(input: Tensor) -> Tensor: ...
def relu6_(input: Tensor) -> Tensor: ...
def relu_(input: Tensor) -> Tensor: ...
@overload
def remainder(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """What is left of a division, with the sign of the divisor."""
@overload
def remainder(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def remainder(input: Number, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def remainder_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def remainder_(input: Tensor, other: Number) -> Tensor: ...
@overload
def renorm(input: Tensor, p: Number, dim: Int, maxnorm: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def renorm(input: Tensor, p: Number, *, axis: Int, maxnorm: Number, out: Tensor | None = None) -> Tensor: ...
def renorm_(input: Tensor, p: Number, dim: Int, maxnorm: Number) -> Tensor: ...
@overload
def repeat_interleave(
    repeats: Tensor, *, output_size: Int | None = None, out: Tensor | None = None
) -> Tensor:
    """Each entry so many times in a row."""
@overload
def repeat_interleave(
    input: Tensor, repeats: Tensor, dim: Int | None = None, *, output_size: Int | None = None
) -> Tensor: ...
@overload
def repeat_interleave(
    input: Tensor, repeats: Tensor, *, axis: Int | None = None, output_size: Int | None = None
) -> Tensor: ...
@overload
def repeat_interleave(
    input: Tensor, repeats: Int, dim: Int | None = None, *, output_size: Int | None = None
) -> Tensor: ...
@overload
def repeat_interleave(
    input: Tensor, repeats: Int, *, axis: Int | None = None, output_size: Int | None = None
) -> Tensor: ...
@overload
def replication_pad1d(input: Tensor, padding: Int | Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def replication_pad1d(input: Tensor, *padding: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def replication_pad2d(input: Tensor, padding: Int | Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def replication_pad2d(input: Tensor, *padding: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def replication_pad3d(input: Tensor, padding: Int | Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def replication_pad3d(input: Tensor, *padding: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def reshape(input: Tensor, shape: Ints) -> Tensor:
    """The elements in another shape: a view where that is possible; -1 is the size that is left."""
@overload
def reshape(input: Tensor, *shape: Int) -> Tensor: ...
def resize_as_(
    input: Tensor, the_template: Tensor, *, memory_format: MemoryFormat | None = None
) -> Tensor: ...
def resize_as_sparse_(input: Tensor, the_template: Tensor) -> Tensor: ...
def resolve_conj(input: Tensor) -> Tensor: ...
def resolve_neg(input: Tensor) -> Tensor: ...
@overload
def result_type(tensor: Tensor, other: Tensor) -> dtype: ...
@overload
def result_type(tensor: Tensor, other: Number) -> dtype: ...
@overload
def result_type(scalar: Number, tensor: Tensor) -> dtype: ...
@overload
def result_type(scalar1: Number, scalar2: Number) -> dtype: ...
def rms_norm(
    input: Tensor, normalized_shape: Ints, weight: Tensor | None = None, eps: Float | None = None
) -> Tensor: ...
@overload
def rnn_relu(
    input: Tensor,
    hx: Tensor,
    params: Tensors,
    has_biases: Bool,
    num_layers: Int,
    dropout: Float,
    train: Bool,
    bidirectional: Bool,
    batch_first: Bool,
) -> tuple[Tensor, Tensor]: ...
@overload
def rnn_relu(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Tensors,
    has_biases: Bool,
    num_layers: Int,
    dropout: Float,
    train: Bool,
    bidirectional: Bool,
) -> tuple[Tensor, Tensor]: ...
def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor: ...
@overload
def rnn_tanh(
    input: Tensor,
    hx: Tensor,
    params: Tensors,
    has_biases: Bool,
    num_layers: Int,
    dropout: Float,
    train: Bool,
    bidirectional: Bool,
    batch_first: Bool,
) -> tuple[Tensor, Tensor]: ...
@overload
def rnn_tanh(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Tensors,
    has_biases: Bool,
    num_layers: Int,
    dropout: Float,
    train: Bool,
    bidirectional: Bool,
) -> tuple[Tensor, Tensor]: ...
def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor: ...
def roll(
    input: Tensor, shifts: Int | Ints, dims: Int | Ints | None = ..., *, out: Tensor | None = None
) -> Tensor:
    """The elements moved along `dims`; what falls off comes in at the other end."""
def rot90(input: Tensor, k: Int = 1, dims: Ints = ..., *, out: Tensor | None = None) -> Tensor: ...
@overload
def round(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The nearest whole number, an even one of two; or with so many `decimals`."""
@overload
def round(input: Tensor, *, decimals: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def round_(input: Tensor) -> Tensor: ...
@overload
def round_(input: Tensor, *, decimals: Int) -> Tensor: ...
def row_stack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor: ...
def rrelu(
    input: Tensor,
    lower: Number = 0.125,
    upper: Number = 0.3333333333333333,
    training: Bool = False,
    generator: Generator | None = None,
) -> Tensor: ...
def rrelu_(
    input: Tensor,
    lower: Number = 0.125,
    upper: Number = 0.3333333333333333,
    training: Bool = False,
    generator: Generator | None = None,
) -> Tensor: ...
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One divided by the square root of every element."""
def rsqrt_(input: Tensor) -> Tensor: ...
@overload
def rsub(input: Tensor, other: Tensor, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor: ...
@overload
def rsub(input: Tensor, other: Number, alpha: Number = 1, *, out: Tensor | None = None) -> Tensor: ...
def scalar_tensor(
    s: Number,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: Float = 0.0,
    is_causal: Bool = False,
    *,
    scale: Float | None = None,
    enable_gqa: Bool = False,
) -> Tensor:
    """Attention: softmax of query @ key.mT, scaled and masked, times value."""
@overload
def scatter(input: Tensor, dim: Int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tensor, with elements of `src` written along `dim` to the places that `index` names."""
@overload
def scatter(input: Tensor, *, axis: Int, index: Tensor, src: Tensor, out: Tensor | None = None) -> Tensor: ...
@overload
def scatter(
    input: Tensor, dim: Int, index: Tensor, src: Tensor, *, reduce: Str, out: Tensor | None = None
) -> Tensor: ...
@overload
def scatter(
    input: Tensor, *, axis: Int, index: Tensor, src: Tensor, reduce: Str, out: Tensor | None = None
) -> Tensor: ...
@overload
def scatter(
    input: Tensor, dim: Int, index: Tensor, value: Number, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def scatter(
    input: Tensor, *, axis: Int, index: Tensor, value: Number, out: Tensor | None = None
) -> Tensor: ...
@overload
def scatter(
    input: Tensor, dim: Int, index: Tensor, value: Number, *, reduce: Str, out: Tensor | None = None
) -> Tensor: ...
@overload
def scatter(
    input: Tensor, *, axis: Int, index: Tensor, value: Number, reduce: Str, out: Tensor | None = None
) -> Tensor: ...
@overload
def scatter_(input: Tensor, dim: Int, index: Tensor, src: Tensor) -> Tensor: ...
@overload
def scatter_(input: Tensor, dim: Int, index: Tensor, src: Tensor, *, reduce: Str) -> Tensor: ...
@overload
def scatter_(input: Tensor, dim: Int, index: Tensor, value: Number) -> Tensor: ...
@overload
def scatter_(input: Tensor, dim: Int, index: Tensor, value: Number, *, reduce: Str) -> Tensor: ...
@overload
def scatter_add(
    input: Tensor, dim: Int, index: Tensor, src: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """The tensor, with elements of `src` added along `dim` at the places that `index` names."""
@overload
def scatter_add(
    input: Tensor, *, axis: Int, index: Tensor, src: Tensor, out: Tensor | None = None
) -> Tensor: ...
def scatter_add_(input: Tensor, dim: Int, index: Tensor, src: Tensor) -> Tensor: ...
@overload
def scatter_reduce(
    input: Tensor,
    dim: Int,
    index: Tensor,
    src: Tensor,
    reduce: Str,
    *,
    include_self: Bool = True,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def scatter_reduce(
    input: Tensor,
    *,
    axis: Int,
    index: Tensor,
    src: Tensor,
    reduce: Str,
    include_self: Bool = True,
    out: Tensor | None = None,
) -> Tensor: ...
def scatter_reduce_(
    input: Tensor, dim: Int, index: Tensor, src: Tensor, reduce: Str, *, include_self: Bool = True
) -> Tensor: ...
@overload
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor,
    *,
    out_int32: Bool = False,
    right: Bool = False,
    side: Str | None = None,
    sorter: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Where values would have to be put into a sorted sequence."""
@overload
def searchsorted(
    sorted_sequence: Tensor,
    input: Number,
    *,
    out_int32: Bool = False,
    right: Bool = False,
    side: Str | None = None,
    sorter: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def select(input: Tensor, dim: Int, index: Int) -> Tensor:
    """A view of one entry along `dim`, without that dimension."""
@overload
def select(input: Tensor, *, axis: Int, index: Int) -> Tensor: ...
@overload
def select_copy(input: Tensor, dim: Int, index: Int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def select_copy(input: Tensor, *, axis: Int, index: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def select_scatter(
    input: Tensor, src: Tensor, dim: Int, index: Int, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def select_scatter(
    input: Tensor, src: Tensor, *, axis: Int, index: Int, out: Tensor | None = None
) -> Tensor: ...
def selu(input: Tensor) -> Tensor: ...
def selu_(input: Tensor) -> Tensor: ...
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sgn_(input: Tensor) -> Tensor: ...
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / (1 + exp(-x)) of every element."""
def sigmoid_(input: Tensor) -> Tensor: ...
def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1 for every element."""
def sign_(input: Tensor) -> Tensor: ...
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def silu(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Every element times its sigmoid."""
def silu_(input: Tensor) -> Tensor: ...
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sine of every element, an angle in radians."""
def sin_(input: Tensor) -> Tensor: ...
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sinc_(input: Tensor) -> Tensor: ...
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic sine of every element."""
def sinh_(input: Tensor) -> Tensor: ...
@overload
def slice_copy(
    input: Tensor,
    dim: Int = 0,
    start: Int | None = None,
    end: Int | None = None,
    step: Int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def slice_copy(
    input: Tensor,
    *,
    axis: Int = 0,
    start: Int | None = None,
    end: Int | None = None,
    step: Int = 1,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: Int = 0,
    start: Int | None = None,
    end: Int | None = None,
    step: Int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def slice_scatter(
    input: Tensor,
    src: Tensor,
    *,
    axis: Int = 0,
    start: Int | None = None,
    end: Int | None = None,
    step: Int = 1,
    out: Tensor | None = None,
) -> Tensor: ...
def slogdet(input: Tensor, *, out: Tensors | None = None) -> named_results.slogdet: ...
def smm(input: Tensor, mat2: Tensor) -> Tensor: ...
def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: Int = 1, beta: Float = 1.0, *, out: Tensor | None = None
) -> Tensor: ...
def soft_margin_loss(
    input: Tensor, target: Tensor, reduction: Int = 1, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def softmax(input: Tensor, dim: Int, dtype: DType | None = None, *, out: Tensor | None = None) -> Tensor:
    """Exponentials of the elements divided by their sum along `dim`: positive numbers that add up to 1."""
@overload
def softmax(input: Tensor, *, axis: Int, dtype: DType | None = None, out: Tensor | None = None) -> Tensor: ...
def softplus(
    input: Tensor, beta: Number = 1, threshold: Number = 20, *, out: Tensor | None = None
) -> Tensor:
    """log(1 + exp(beta * x)) / beta of every element: `relu` without its corner."""
def softshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor: ...
@overload
def sort(
    input: Tensor, dim: Int = -1, descending: Bool = False, *, out: Tensors | None = None
) -> named_results.sort:
    """The elements in order along `dim`, and where they were."""
@overload
def sort(
    input: Tensor, *, axis: Int = -1, descending: Bool = False, out: Tensors | None = None
) -> named_results.sort: ...
@overload
def sort(
    input: Tensor,
    *,
    stable: Bool | None = None,
    dim: Int = -1,
    descending: Bool = False,
    out: Tensors | None = None,
) -> named_results.sort: ...
@overload
def sort(
    input: Tensor,
    *,
    stable: Bool | None = None,
    axis: Int = -1,
    descending: Bool = False,
    out: Tensors | None = None,
) -> named_results.sort: ...
@overload
def split(input: Tensor, split_size: Int, dim: Int = 0) -> tuple[Tensor, ...]:
    """The tensor in views of this size along `dim`, or of these sizes."""
@overload
def split(input: Tensor, split_size: Int, *, axis: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def split(input: Tensor, split_size: Ints, dim: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def split(input: Tensor, split_size: Ints, *, axis: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def split(input: Tensor, split_sizes: Ints, dim: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def split(input: Tensor, split_sizes: Ints, *, axis: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def split_copy(
    input: Tensor, split_size: Int, dim: Int = 0, *, out: Tensors | None = None
) -> tuple[Tensor, ...]: ...
@overload
def split_copy(
    input: Tensor, split_size: Int, *, axis: Int = 0, out: Tensors | None = None
) -> tuple[Tensor, ...]: ...
@overload
def split_with_sizes(input: Tensor, split_sizes: Ints, dim: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def split_with_sizes(input: Tensor, split_sizes: Ints, *, axis: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def split_with_sizes_copy(
    input: Tensor, split_sizes: Ints, dim: Int = 0, *, out: Tensors | None = None
) -> tuple[Tensor, ...]: ...
@overload
def split_with_sizes_copy(
    input: Tensor, split_sizes: Ints, *, axis: Int = 0, out: Tensors | None = None
) -> tuple[Tensor, ...]: ...
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square root of every element."""
def sqrt_(input: Tensor) -> Tensor: ...
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Every element times itself."""
def square_(input: Tensor) -> Tensor: ...
@overload
def squeeze(input: Tensor) -> Tensor:
    """A view without dimensions of size 1: all of them, or those that `dim` names."""
@overload
def squeeze(input: Tensor, dim: Int) -> Tensor: ...
@overload
def squeeze(input: Tensor, *, axis: Int) -> Tensor: ...
@overload
def squeeze(input: Tensor, dim: Ints) -> Tensor: ...
@overload
def squeeze(input: Tensor, *, axis: Ints) -> Tensor: ...
@overload
def squeeze(input: Tensor, *dim: Int) -> Tensor: ...
@overload
def squeeze_(input: Tensor) -> Tensor: ...
@overload
def squeeze_(input: Tensor, dim: Int) -> Tensor: ...
@overload
def squeeze_(input: Tensor, dim: Ints) -> Tensor: ...
@overload
def squeeze_(input: Tensor, *dim: Int) -> Tensor: ...
@overload
def squeeze_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def squeeze_copy(input: Tensor, dim: Int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def squeeze_copy(input: Tensor, *, axis: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def squeeze_copy(input: Tensor, dim: Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def squeeze_copy(input: Tensor, *dim: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def squeeze_copy(input: Tensor, *, axis: Ints, out: Tensor | None = None) -> Tensor: ...
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
@overload
def stack(tensors: Tensors, dim: Int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape, side by side along a new dimension."""
@overload
def stack(tensors: Tensors, *, axis: Int = 0, out: Tensor | None = None) -> Tensor: ...
@overload
def std(input: Tensor, unbiased: Bool = True) -> Tensor:
    """The standard deviation of all elements, or along `dim`."""
@overload
def std(
    input: Tensor,
    dim: Int | Ints | None,
    unbiased: Bool = True,
    keepdim: Bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def std(
    input: Tensor,
    *,
    axis: Int | Ints | None,
    unbiased: Bool = True,
    keepdims: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def std(
    input: Tensor, dim: Int | Ints | None, unbiased: Bool = True, *, keepdims: Bool, out: Tensor | None = None
) -> Tensor: ...
@overload
def std(
    input: Tensor,
    dim: Int | Ints | None = None,
    *,
    correction: Number | None = None,
    keepdim: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def std(
    input: Tensor,
    *dim: Int,
    correction: Number | None = None,
    keepdim: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def std(
    input: Tensor,
    *,
    axis: Int | Ints | None = None,
    correction: Number | None = None,
    keepdims: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def std(
    input: Tensor,
    dim: Int | Ints | None = None,
    *,
    correction: Number | None = None,
    keepdims: Bool,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def std_mean(input: Tensor, unbiased: Bool = True) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(
    input: Tensor, dim: Int | Ints | None, unbiased: Bool = True, keepdim: Bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(
    input: Tensor, *, axis: Int | Ints | None, unbiased: Bool = True, keepdims: Bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(
    input: Tensor, dim: Int | Ints | None, unbiased: Bool = True, *, keepdims: Bool
) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(
    input: Tensor,
    dim: Int | Ints | None = None,
    *,
    correction: Number | None = None,
    keepdim: Bool = False,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(
    input: Tensor,
    *dim: Int,
    correction: Number | None = None,
    keepdim: Bool = False,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(
    input: Tensor,
    *,
    axis: Int | Ints | None = None,
    correction: Number | None = None,
    keepdims: Bool = False,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(
    input: Tensor,
    dim: Int | Ints | None = None,
    *,
    correction: Number | None = None,
    keepdims: Bool,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
def stft(
    input: Tensor,
    n_fft: Int,
    hop_length: Int | None = None,
    win_length: Int | None = None,
    window: Tensor | None = None,
    center: Bool = True,
    pad_mode: Str = 'reflect',
    normalized: Bool = False,
    onesided: Bool | None = None,
    return_complex: Bool | None = None,
    align_to_window: Bool | None = None,
) -> Tensor: ...
@overload
def sub(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None
) -> Tensor:
    """The difference of two tensors, or of a tensor and a number; `alpha` multiplies the second."""
@overload
def sub(input: Tensor | Number, other: Number, alpha: Number = 1) -> Tensor: ...
@overload
def sub_(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor: ...
@overload
def sub_(input: Tensor | Number, other: Number, alpha: Number = 1) -> Tensor: ...
@overload
def subtract(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None
) -> Tensor: ...
@overload
def subtract(input: Tensor | Number, other: Number, alpha: Number = 1) -> Tensor: ...
@overload
def subtract_(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor: ...
@overload
def subtract_(input: Tensor | Number, other: Number, alpha: Number = 1) -> Tensor: ...
@overload
def sum(
    input: Tensor,
    dim: Int | Ints | None,
    keepdim: Bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The sum of all elements, or along `dim`; of truths and small integers, in int64."""
@overload
def sum(
    input: Tensor,
    *,
    axis: Int | Ints | None,
    keepdims: Bool = False,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def sum(
    input: Tensor,
    dim: Int | Ints | None,
    *,
    keepdims: Bool,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def sum(input: Tensor, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor: ...
def svd(
    input: Tensor, some: Bool = True, compute_uv: Bool = True, *, out: Tensors | None = None
) -> named_results.svd: ...
def swapaxes(input: Tensor, axis0: Int, axis1: Int) -> Tensor: ...
def swapaxes_(input: Tensor, axis0: Int, axis1: Int) -> Tensor: ...
def swapdims(input: Tensor, dim0: Int, dim1: Int) -> Tensor: ...
def swapdims_(input: Tensor, dim0: Int, dim1: Int) -> Tensor: ...
def sym_constrain_range(size: Number, *, min: Int | None = None, max: Int | None = None) -> None: ...
def sym_constrain_range_for_size(size: Number, *, min: Int | None = None, max: Int | None = None) -> None: ...
def t(input: Tensor) -> Tensor:
    """A matrix with rows and columns exchanged, as a view."""
def t_(input: Tensor) -> Tensor: ...
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Elements by their index in the flattened tensor."""
@overload
def take_along_dim(
    input: Tensor, indices: Tensor, dim: Int | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def take_along_dim(
    input: Tensor, indices: Tensor, *, axis: Int | None = None, out: Tensor | None = None
) -> Tensor: ...
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tangent of every element, an angle in radians."""
def tan_(input: Tensor) -> Tensor: ...
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent of every element, between -1 and 1."""
def tanh_(input: Tensor) -> Tensor: ...
@overload
def tensor_split(input: Tensor, sections: Int, dim: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(input: Tensor, sections: Int, *, axis: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(input: Tensor, indices: Ints, dim: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(input: Tensor, indices: Ints, *, axis: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(input: Tensor, tensor_indices_or_sections: Tensor, dim: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(
    input: Tensor, tensor_indices_or_sections: Tensor, *, axis: Int = 0
) -> tuple[Tensor, ...]: ...
def tensordot(
    a: Tensor, b: Tensor, dims: Int | Tensor | Sequence[Ints] = 2, out: Tensor | None = None
) -> Tensor: ...
def threshold(input: Tensor, threshold: Number, value: Number, *, out: Tensor | None = None) -> Tensor: ...
def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor: ...
@overload
def tile(input: Tensor, dims: Ints) -> Tensor:
    """The tensor, copied so many times along each dimension; missing numbers are 1."""
@overload
def tile(input: Tensor, *dims: Int) -> Tensor: ...
def to_padded_tensor(
    input: Tensor, padding: Float, output_size: Ints | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def topk(
    input: Tensor,
    k: Int,
    dim: Int = -1,
    largest: Bool = True,
    sorted: Bool = True,
    *,
    out: Tensors | None = None,
) -> named_results.topk:
    """The `k` largest elements along `dim`, and where they are; the smallest without `largest`."""
@overload
def topk(
    input: Tensor,
    k: Int,
    *,
    axis: Int = -1,
    largest: Bool = True,
    sorted: Bool = True,
    out: Tensors | None = None,
) -> named_results.topk: ...
def trace(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of the diagonal of a matrix."""
def transpose(input: Tensor, dim0: Int, dim1: Int) -> Tensor:
    """A view with two dimensions exchanged."""
def transpose_(input: Tensor, dim0: Int, dim1: Int) -> Tensor: ...
def transpose_copy(input: Tensor, dim0: Int, dim1: Int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def trapezoid(y: Tensor, x: Tensor, *, dim: Int = -1) -> Tensor: ...
@overload
def trapezoid(y: Tensor, x: Tensor, *, axis: Int = -1) -> Tensor: ...
@overload
def trapezoid(y: Tensor, *, dx: Number = 1, dim: Int = -1) -> Tensor: ...
@overload
def trapezoid(y: Tensor, *, dx: Number = 1, axis: Int = -1) -> Tensor: ...
@overload
def trapz(y: Tensor, x: Tensor, *, dim: Int = -1) -> Tensor: ...
@overload
def trapz(y: Tensor, x: Tensor, *, axis: Int = -1) -> Tensor: ...
@overload
def trapz(y: Tensor, *, dx: Float = 1.0, dim: Int = -1) -> Tensor: ...
@overload
def trapz(y: Tensor, *, dx: Float = 1.0, axis: Int = -1) -> Tensor: ...
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: Bool = True,
    transpose: Bool = False,
    unitriangular: Bool = False,
    *,
    out: Tensors | None = None,
) -> named_results.triangular_solve: ...
def tril(input: Tensor, diagonal: Int = 0, *, out: Tensor | None = None) -> Tensor:
    """The lower triangle of matrices; zero above diagonal number `diagonal`."""
def tril_(input: Tensor, diagonal: Int = 0) -> Tensor: ...
def tril_indices(
    row: Int,
    col: Int,
    offset: Int = 0,
    *,
    dtype: DType | None = ...,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: Float = 1.0,
    p: Float = 2.0,
    eps: Float = 1e-06,
    swap: Bool = False,
    reduction: Int = 1,
) -> Tensor: ...
def triu(input: Tensor, diagonal: Int = 0, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle of matrices; zero below diagonal number `diagonal`."""
def triu_(input: Tensor, diagonal: Int = 0) -> Tensor: ...
def triu_indices(
    row: Int,
    col: Int,
    offset: Int = 0,
    *,
    dtype: DType | None = ...,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def true_divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def true_divide_(input: Tensor | Number, other: Tensor | Number) -> Tensor: ...
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The whole part of every element."""
def trunc_(input: Tensor) -> Tensor: ...
@overload
def unbind(input: Tensor, dim: Int = 0) -> tuple[Tensor, ...]:
    """Views of all entries along `dim`, without that dimension."""
@overload
def unbind(input: Tensor, *, axis: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def unbind_copy(input: Tensor, dim: Int = 0, *, out: Tensors | None = None) -> tuple[Tensor, ...]: ...
@overload
def unbind_copy(input: Tensor, *, axis: Int = 0, out: Tensors | None = None) -> tuple[Tensor, ...]: ...
@overload
def unflatten(input: Tensor, dim: Int, sizes: Ints) -> Tensor:
    """One dimension as several of these sizes."""
@overload
def unflatten(input: Tensor, *, axis: Int, sizes: Ints) -> Tensor: ...
def unfold_copy(
    input: Tensor, dimension: Int, size: Int, step: Int, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: Bool = True,
    *,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: Int | None = None,
) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: Bool = True,
    return_inverse: Bool = False,
    return_counts: Bool = False,
    dim: Int | None = None,
) -> Any: ...
@overload
def unique_consecutive(
    input: Tensor,
    *,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: Int | None = None,
) -> Tensor: ...
@overload
def unique_consecutive(
    input: Tensor, return_inverse: Bool = False, return_counts: Bool = False, dim: Int | None = None
) -> Any: ...
@overload
def unique_dim(
    input: Tensor,
    dim: Int,
    sorted: Bool = True,
    return_inverse: Bool = False,
    return_counts: Bool = False,
    *,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def unique_dim(
    input: Tensor,
    *,
    axis: Int,
    sorted: Bool = True,
    return_inverse: Bool = False,
    return_counts: Bool = False,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def unravel_index(indices: Tensor, shape: Int | Ints) -> tuple[Tensor, ...]: ...
@overload
def unsafe_chunk(input: Tensor, chunks: Int, dim: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def unsafe_chunk(input: Tensor, chunks: Int, *, axis: Int = 0) -> tuple[Tensor, ...]: ...
@overload
def unsafe_split(
    input: Tensor, split_size: Int, dim: Int = 0, *, out: Tensors | None = None
) -> tuple[Tensor, ...]: ...
@overload
def unsafe_split(
    input: Tensor, split_size: Int, *, axis: Int = 0, out: Tensors | None = None
) -> tuple[Tensor, ...]: ...
@overload
def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Ints, dim: Int = 0, *, out: Tensors | None = None
) -> tuple[Tensor, ...]: ...
@overload
def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Ints, *, axis: Int = 0, out: Tensors | None = None
) -> tuple[Tensor, ...]: ...
@overload
def unsqueeze(input: Tensor, dim: Int) -> Tensor:
    """A view with a new dimension of size 1 before dimension `dim`."""
@overload
def unsqueeze(input: Tensor, *, axis: Int) -> Tensor: ...
def unsqueeze_(input: Tensor, dim: Int) -> Tensor: ...
@overload
def unsqueeze_copy(input: Tensor, dim: Int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def unsqueeze_copy(input: Tensor, *, axis: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def upsample_bicubic2d(
    input: Tensor, output_size: Ints | None, align_corners: Bool, scale_factors: Floats | None
) -> Tensor: ...
@overload
def upsample_bicubic2d(
    input: Tensor,
    output_size: Int | Ints,
    align_corners: Bool,
    scales_h: Float | None = None,
    scales_w: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def upsample_bilinear2d(
    input: Tensor,
    output_size: Ints | None,
    align_corners: Bool,
    scale_factors: Floats | None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def upsample_bilinear2d(
    input: Tensor,
    output_size: Int | Ints,
    align_corners: Bool,
    scales_h: Float | None = None,
    scales_w: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def upsample_linear1d(
    input: Tensor, output_size: Ints | None, align_corners: Bool, scale_factors: Floats | None
) -> Tensor: ...
@overload
def upsample_linear1d(
    input: Tensor,
    output_size: Int | Ints,
    align_corners: Bool,
    scales: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def upsample_nearest1d(input: Tensor, output_size: Ints | None, scale_factors: Floats | None) -> Tensor: ...
@overload
def upsample_nearest1d(
    input: Tensor, output_size: Int | Ints, scales: Float | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def upsample_nearest2d(
    input: Tensor, output_size: Ints | None, scale_factors: Floats | None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def upsample_nearest2d(
    input: Tensor,
    output_size: Int | Ints,
    scales_h: Float | None = None,
    scales_w: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def upsample_nearest3d(input: Tensor, output_size: Ints | None, scale_factors: Floats | None) -> Tensor: ...
@overload
def upsample_nearest3d(
    input: Tensor,
    output_size: Int | Ints,
    scales_d: Float | None = None,
    scales_h: Float | None = None,
    scales_w: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def upsample_trilinear3d(
    input: Tensor, output_size: Ints | None, align_corners: Bool, scale_factors: Floats | None
) -> Tensor: ...
@overload
def upsample_trilinear3d(
    input: Tensor,
    output_size: Int | Ints,
    align_corners: Bool,
    scales_d: Float | None = None,
    scales_h: Float | None = None,
    scales_w: Float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def values_copy(input: Tensor) -> Tensor: ...
def vander(x: Tensor, N: Int | None = None, increasing: Bool = False) -> Tensor: ...
@overload
def var(input: Tensor, unbiased: Bool = True) -> Tensor:
    """The variance of all elements, or along `dim`."""
@overload
def var(
    input: Tensor,
    dim: Int | Ints | None,
    unbiased: Bool = True,
    keepdim: Bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def var(
    input: Tensor,
    *,
    axis: Int | Ints | None,
    unbiased: Bool = True,
    keepdims: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def var(
    input: Tensor, dim: Int | Ints | None, unbiased: Bool = True, *, keepdims: Bool, out: Tensor | None = None
) -> Tensor: ...
@overload
def var(
    input: Tensor,
    dim: Int | Ints | None = None,
    *,
    correction: Number | None = None,
    keepdim: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def var(
    input: Tensor,
    *dim: Int,
    correction: Number | None = None,
    keepdim: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def var(
    input: Tensor,
    *,
    axis: Int | Ints | None = None,
    correction: Number | None = None,
    keepdims: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def var(
    input: Tensor,
    dim: Int | Ints | None = None,
    *,
    correction: Number | None = None,
    keepdims: Bool,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def var_mean(input: Tensor, unbiased: Bool = True) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(
    input: Tensor, dim: Int | Ints | None, unbiased: Bool = True, keepdim: Bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(
    input: Tensor, *, axis: Int | Ints | None, unbiased: Bool = True, keepdims: Bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(
    input: Tensor, dim: Int | Ints | None, unbiased: Bool = True, *, keepdims: Bool
) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(
    input: Tensor,
    dim: Int | Ints | None = None,
    *,
    correction: Number | None = None,
    keepdim: Bool = False,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(
    input: Tensor,
    *dim: Int,
    correction: Number | None = None,
    keepdim: Bool = False,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(
    input: Tensor,
    *,
    axis: Int | Ints | None = None,
    correction: Number | None = None,
    keepdims: Bool = False,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(
    input: Tensor,
    dim: Int | Ints | None = None,
    *,
    correction: Number | None = None,
    keepdims: Bool,
    out: Tensors | None = None,
) -> tuple[Tensor, Tensor]: ...
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def view(input: Tensor, size: Ints) -> Tensor:
    """The same elements in memory as another shape, or as another dtype; -1 is the size that is left."""
@overload
def view(input: Tensor, *size: Int) -> Tensor: ...
@overload
def view(input: Tensor, dtype: DType) -> Tensor: ...
def view_as_complex(input: Tensor) -> Tensor: ...
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def view_as_real(input: Tensor) -> Tensor: ...
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def view_copy(input: Tensor, size: Ints, *, out: Tensor | None = None) -> Tensor: ...
@overload
def view_copy(input: Tensor, *size: Int, out: Tensor | None = None) -> Tensor: ...
@overload
def view_copy(input: Tensor, dtype: DType, *, out: Tensor | None = None) -> Tensor: ...
@overload
def vsplit(input: Tensor, sections: Int) -> tuple[Tensor, ...]: ...
@overload
def vsplit(input: Tensor, indices: Ints) -> tuple[Tensor, ...]: ...
@overload
def vsplit(input: Tensor, *indices: Int) -> tuple[Tensor, ...]: ...
def vstack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor:
    """Tensors one below the other, vectors as rows."""
@overload
def where(condition: Tensor, input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Elements of `input` where `condition` is true, of `other` elsewhere; with the condition alone, the indices where it is."""
@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Tensor, input: Tensor, other: Number) -> Tensor: ...
@overload
def where(condition: Tensor, input: Number, other: Tensor) -> Tensor: ...
@overload
def where(condition: Tensor, input: Number, other: Number) -> Tensor: ...
@overload
def xlogy(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def xlogy(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def xlogy(input: Number, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def xlogy_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def xlogy_(input: Tensor, other: Number) -> Tensor: ...
def zero(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def zero_(input: Tensor) -> Tensor: ...
@overload
def zeros(
    size: Ints,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """A tensor of a shape, filled with zeros."""
@overload
def zeros(
    *size: Int,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
def zeros_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    memory_format: MemoryFormat | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor:
    """A tensor like another one, filled with zeros."""
