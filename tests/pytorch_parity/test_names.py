"""Every public name of PyTorch's dense API is implemented, except those listed with a reason."""

from fnmatch import fnmatch

import pytest

torch = pytest.importorskip("torch")
import torch.masked  # noqa: E402
import torch.onnx  # noqa: E402 -- whatever other tests have imported
import torch.signal.windows  # noqa: E402

import ts  # noqa: E402
from ts.unsupported.placeholders import is_placeholder  # noqa: E402

EXCUSED = {
    "sparse and quantized tensors do not exist here": """
        *sparse* *quantize* quantized_* q_* fused_moving_avg* choose_qparams* empty_quantized
        int_repr per_channel_* per_tensor_* qint* quint* QInt* QUInt* qscheme *indices_copy
        resize_as_sparse_ saddmm hsmm dsmm
        segment_reduce jagged slice_inverse
    """,
    "dtypes without arrays: a few bits": """
        bit bits* int[1-7] uint[1-7]
    """,
    "other libraries and devices": """
        cudnn_* miopen_* mkldnn_* fbgemm_* to_mkldnn mkldnn* xpu mtia ipu *_vulkan_* batch_norm_*
        grouped_mm scaled_grouped_mm scaled_mm ScalingType SwizzleType
    """,
    "removed from PyTorch: they raise": """
        eig lstsq matrix_rank solve symeig reinforce
    """,
    "tensor types of old, and storages that know their type": """
        *Tensor Q*Storage StorageBase storage_type DisableTorchFunction*
    """,
    "the compiler's own objects, not documented": """
        AliasDb Argument* *Type Benchmark* Block Bool* BufferDict CallStack Capsule Code CompilationUnit
        CompleteArgumentSpec Concrete* DeepCopyMemoTable *Context ErrorReport ExcludeDispatchKeyGuard
        ExecutionPlan FatalError FileCheck FunctionSchema Gradient Graph GraphExecutorState IODescriptor
        JITException Lite* *Logger* ModuleDict Node OperatorInfo ParameterDict PRIVATE_OPS PyTorchFile* Script*
        Static* Sym* Tag ThroughputBenchmark TracingState Type Use Value AVG SUM AggregationType Dispatch*
        import_ir_module* merge_type_from_type_comment parse_schema parse_type_comment unify_type_list
        init_num_threads prepare_multiprocessing_environment get_file_path sym_fresh_size
        profiler_allow_* has_* classproperty thread_safe_generator compiled_with_cxx11_abi
        DType *has_torch_function* assert_int_or_pair GRID_SAMPLE_*
        module_load const_data_ptr index grad_dtype to_dlpack fork wait
    """,
    "modules and documentation that are there by accident": """
        TYPE_CHECKING Callable Optional
        *_notes common_args
        factory_common_args multi_dim_common
    """,
    "other parts of PyTorch, or not yet: gradients, modes, compilation, distribution, pickles": """
        *autocast_ipu* *autocast_xla* *anomaly*
        AcceleratorError OutOfMemoryError Event
        lobpcg MaskedTensor *masked_tensor maskedtensor
    """,
}
PATTERNS = [pattern for names in EXCUSED.values() for pattern in names.split()]
# The last names are PyTorch modules that exist only after imports by other tests.
ACCIDENTS = {
    "TYPE_CHECKING",
    "DType",
    "deprecated",
    "Union",
    "Optional",
    "Any",
    "Callable",
    "Iterable",
    "warn",
    "MappingProxyType",
    "flex_attention",
    "numa",
    "maskedtensor",
}
NAMESPACES = ("", "Tensor", "linalg", "fft", "special", "signal.windows", "nn.functional", "masked", "functional")


def has(module, name):
    """Return True if a module has a name that is not a placeholder of `ts.unsupported`."""
    return hasattr(module, name) and not is_placeholder(getattr(module, name))


def at(package, place):
    for part in filter(None, place.split(".")):
        package = getattr(package, part)
    return package


@pytest.mark.parametrize("place", NAMESPACES)
def test_names(place):
    theirs, ours = at(torch, place), at(ts, place)
    missing = {name for name in dir(theirs) if not name.startswith("_") and not has(ours, name)}
    assert {name for name in missing - ACCIDENTS if not any(fnmatch(name, p) for p in PATTERNS)} == set()


def test_every_exception_is_needed():
    missing = {
        n for p in NAMESPACES for n in dir(at(torch, p)) if not n.startswith("_") and not has(at(ts, p), n)
    }
    assert [p for p in PATTERNS if p not in ACCIDENTS and not any(fnmatch(name, p) for name in missing)] == []
