"""Every public name of PyTorch's dense API is there; what is not is excused below, with its reason."""

from fnmatch import fnmatch
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")
import torch.masked  # noqa: E402
import torch.onnx  # noqa: E402 -- whatever other tests have imported
import torch.signal.windows  # noqa: E402

import ts  # noqa: E402

EXCUSED = {
    "sparse and quantized tensors do not exist here": """
        *sparse* *quantize* quantized_* q_* fused_moving_avg* choose_qparams* empty_quantized
        int_repr per_channel_* per_tensor_* qint* quint* QInt* QUInt* qscheme *indices *indices_copy values
        coalesce is_coalesced resize_as_sparse_ smm sspaddmm saddmm hsmm hspmm dsmm spmm
        segment_reduce jagged slice_inverse
    """,
    "dtypes without arrays: a few bits, halves of complex numbers": """
        bit bits* int[1-7] uint[1-7] float4*
    """,
    "other libraries and devices": """
        cudnn_* miopen_* mkldnn_* fbgemm_* to_mkldnn mkldnn* xpu mtia ipu cpp *_vulkan_* batch_norm_*
        grouped_mm scaled_grouped_mm scaled_mm ScalingType SwizzleType get_device_module
    """,
    "removed from PyTorch: they raise": """
        eig lstsq matrix_rank solve symeig reinforce
    """,
    "tensor types of old, and storages that know their type": """
        *Tensor Q*Storage StorageBase storage_type DisableTorchFunction* legacy_* resize
        resize_as
    """,
    "the compiler's own objects, not documented": """
        AliasDb Argument* *Type Benchmark* Block Bool* BufferDict CallStack Capsule Code CompilationUnit
        CompleteArgumentSpec Concrete* DeepCopyMemoTable *Context ErrorReport ExcludeDispatchKeyGuard
        ExecutionPlan FatalError FileCheck FunctionSchema Gradient Graph GraphExecutorState IODescriptor
        JITException Lite* *Logger* ModuleDict Node OperatorInfo ParameterDict PRIVATE_OPS PyTorchFile* Script*
        Static* Sym* Tag ThroughputBenchmark TracingState Type Use USE_* Value AVG SUM AggregationType Dispatch*
        import_ir_module* merge_type_from_type_comment parse_schema parse_type_comment unify_type_list
        init_num_threads prepare_multiprocessing_environment get_file_path sym_fresh_size
        profiler_allow_* has_* classproperty thread_safe_generator compiled_with_cxx11_abi
        DType handle_torch_function *has_torch_function* assert_int_or_pair boolean_dispatch BroadcastingList* GRID_SAMPLE_* F
        module_load const_data_ptr index grad_dtype to_dlpack fork wait
    """,
    "modules and documentation that are there by accident": """
        TYPE_CHECKING Callable Optional Sequence builtins ctypes functools glob inspect itertools math np operator
        platform textwrap threading warnings dataclasses windows torch *_notes common_args
        factory_common_args multi_dim_common Tensor
    """,
    "other parts of PyTorch, or not yet: gradients, modes, compilation, distribution, pickles": """
        *autocast_ipu* *autocast_xla* *anomaly*
        classes AcceleratorError OutOfMemoryError Event
        from_file lobpcg MaskedTensor *masked_tensor maskedtensor
    """,
}
PATTERNS = [pattern for names in EXCUSED.values() for pattern in names.split()]
# The last ones are modules of PyTorch's that are there once another test has imported them.
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
PLACES = ("", "Tensor", "linalg", "fft", "special", "signal.windows", "nn.functional", "masked", "functional")


# The same for modules that programs use less often: what is missing there, and why.
EXCUSED_THERE = {
    "nn": "Container factory_kwargs",  # gradients
    "nn.init": "",
    "nn.utils": "convert_conv?d_weight_memory_format memory_format",  # `Module.to` does these
    "nn.attention": "SDPAParams can_use_* *_flash_attention_impl* WARN_FOR_UNFUSED_KERNELS",  # one kind here
    "nn.parallel": "*CPU comm data_parallel gather parallel_apply replicate scatter*",  # one device
    "nn.modules.module": "*_registration_hook BackwardHook is_traceable* device dtype DeviceLikeType",
    "jit": """
        ONNXTracedModule jit_module_from_flatbuffer save_jit_module_to_flatbuffer
    """,  # the optimiser is a later part; other formats
    "amp": "",
    "backends": "m python_native",  # other libraries
    "backends.cudnn": "m",
    "backends.mps": "get_core_count get_name is_macos*",  # no Metal
    "autograd": """
        DeviceType NestedIOFunction Profiler* SavedTensor anomaly_mode enforce_grad_layout_policy
        handle_torch_function has_torch_function is_* profiler_* set_multithreading_enabled
    """,  # gradients and profiles
    "accelerator": "Graph graphs *cache current_device_idx set_device_idx *_stream device_index *memory* get_device_*",
    "compiler": """
        CacheInfo F NestedCompileRegionOptions config *backend* *_unsafe *cache_artifacts nested_compile_region
        load_compiled_function set_* substitute_in_graph wrap_numpy
    """,  # of a compiler behind `compile`
    "cpu": "Event StreamContext current_stream get_capabilities",
    "testing": "FileCheck assert_allclose make_tensor",
    "func": """
        debug_unwrap rearrange replace_all_batch_norm_modules_
    """,
    "utils.data": """
        *DataPipe* DataChunk argument_validation graph*
        *determinis* runtime_validation*
    """,  # pipes, and the names of files
    "distributions": "",
}


def by_accident(value):
    """Whether PyTorch's module has it because it imports it."""
    if isinstance(value, ModuleType):
        return not value.__name__.startswith("torch.")
    home = getattr(value, "__module__", None) or ""
    return home.split(".")[0] in (
        "typing",
        "typing_extensions",
        "collections",
        "contextlib",
        "functools",
        "warnings",
    )


@pytest.mark.parametrize("place", EXCUSED_THERE)
def test_names_of_modules(place):
    """What is missing is excused, and every excuse is needed."""
    theirs, ours = at(torch, place), at(ts, place)
    missing = {
        name
        for name in dir(theirs)
        if not name.startswith("_") and not has(ours, name) and not by_accident(getattr(theirs, name))
    }
    patterns = EXCUSED_THERE[place].split()
    assert {name for name in missing if not any(fnmatch(name, p) for p in patterns)} - ACCIDENTS == set()
    assert [p for p in patterns if not any(fnmatch(name, p) for name in missing)] == []


def has(module, name):
    """Whether a module has it, not a placeholder (`ts.absent`), which `test_absent.py` compares."""
    value = getattr(module, name, None)
    return hasattr(module, name) and getattr(value, "__module__", "") != "ts.absent"


def at(package, place):
    for part in filter(None, place.split(".")):
        package = getattr(package, part)
    return package


@pytest.mark.parametrize("place", PLACES)
def test_names(place):
    theirs, ours = at(torch, place), at(ts, place)
    missing = {name for name in dir(theirs) if not name.startswith("_") and not has(ours, name)}
    assert {name for name in missing - ACCIDENTS if not any(fnmatch(name, p) for p in PATTERNS)} == set()


def test_every_excuse_is_needed():
    missing = {
        n for p in PLACES for n in dir(at(torch, p)) if not n.startswith("_") and not has(at(ts, p), n)
    }
    assert [p for p in PATTERNS if p not in ACCIDENTS and not any(fnmatch(name, p) for name in missing)] == []
