"""`ts` runs TorchScript without PyTorch, and has PyTorch's names after `import ts as torch`.

Names are resolved on first use, so importing the package is fast. Example:

    import ts

    @ts.jit.script
    def clamp_sum(x, low: float):
        total = 0.0
        for row in x:
            total += max(float(row.sum()), low)
        return total

    clamp_sum(ts.ones(2, 3), 0.5)      # 6.0
    clamp_sum.graph, clamp_sum.code, clamp_sum.bytecode
"""

from __future__ import annotations

import importlib
import math
import os.path
import sys

from ts.import_hook import install as _install_finder

TYPE_CHECKING = False  # importing `typing` for this name would double the time of `import ts`
if TYPE_CHECKING:
    from typing import Any


def _require_built() -> None:
    """Raise ImportError with build instructions if a clone has no compiled modules."""
    loop = "ts._core.vm.interp", [os.path.join(__path__[0], "_core", "vm")]
    for name, search_paths in (loop, ("ts.backends", __path__)):
        if not any(finder.find_spec(name, search_paths) for finder in sys.meta_path):
            raise ImportError(
                f"ts is imported from its sources in {os.path.dirname(__path__[0])}, where {name} "
                "is not built: "
                "run `pip install -e .` there, or start Python in another folder to use an installed ts"
            )


_require_built()

# module -> public names, except operators, that `ts` takes from it
_NAMES_OF: dict[str, tuple[str, ...]] = {
    "ts._core.tensor.tensor": ("Tensor", "Size"),
    "ts._core.tensor.factories": ("tensor", "as_tensor", "from_numpy"),
    "ts._core.tensor.interop": ("from_dlpack",),
    "ts._core.tensor.storage": ("UntypedStorage", "TypedStorage", "is_storage"),
    "ts.devices": ("device", "Stream"),
    "ts.dtypes": (
        "dtype", "layout", "memory_format", "finfo", "iinfo", "strided", "sparse_coo", "sparse_csr",
        "sparse_csc", "sparse_bsr", "sparse_bsc", "contiguous_format", "preserve_format", "channels_last",
        "channels_last_3d", "get_default_dtype", "set_default_dtype",
    ),
    "ts.ir.graph_parser": ("parse_ir",),
    "ts._core.tensor.printing": ("set_printoptions",),
    "ts.runtime.limits": ("limits",),
    "ts.archive.torch_save": ("save",),
    "ts.serialization": ("load",),
    "ts.futures": ("Future",),
    "ts.debugger.api": ("debug",),
    "ts.func.vmap": ("vmap",),
    "ts.python_api.threads": ("get_num_threads", "set_num_threads"),
    "ts._core.vm.interop_pool": ("get_num_interop_threads", "set_num_interop_threads"),
    "ts.functional": (
        "cdist", "lu", "norm", "stft", "tensordot", "unique", "unique_consecutive", "unravel_index",
    ),
    "ts.autograd.grad_mode": (
        "no_grad", "enable_grad", "set_grad_enabled", "is_grad_enabled", "inference_mode",
        "is_inference_mode_enabled",
    ),
    "ts.python_api.predicates": (
        "is_tensor", "is_floating_point", "is_complex", "numel", "get_device", "typename", "_assert",
    ),
    "ts.python_api.from_memory": ("asarray", "frombuffer"),
    "ts.sparse.constructors": (
        "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_coo_tensor",
        "sparse_csc_tensor", "sparse_csr_tensor", "spmm",
    ),
    "ts.python_api.files": ("from_file", "get_device_module"),
    "ts.python_api.lowrank": ("pca_lowrank", "svd_lowrank"),
    "ts.python_api.global_flags": (
        "use_deterministic_algorithms", "are_deterministic_algorithms_enabled",
        "is_deterministic_algorithms_warn_only_enabled", "set_deterministic_debug_mode",
        "get_deterministic_debug_mode", "set_float32_matmul_precision", "get_float32_matmul_precision",
        "set_flush_denormal", "set_warn_always", "is_warn_always_enabled",
    ),
    "ts.utils._device": ("get_default_device", "set_default_device"),
    "ts.amp": ("autocast", "GradScaler"),
    "ts.amp.autocast_flags": (
        "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
        "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_cache_enabled",
        "is_autocast_cpu_enabled", "is_autocast_enabled", "set_autocast_cache_enabled",
        "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_dtype", "set_autocast_enabled",
        "set_autocast_gpu_dtype",
    ),
    "ts.autograd.anomaly": ("is_anomaly_enabled", "is_anomaly_check_nan_enabled"),
    "ts.compiler": ("compile",),
    "ts._subclasses.fake_tensor": ("fake",),
    "ts._higher_order_ops.cond": ("cond",),
    "ts._higher_order_ops.while_loop": ("while_loop",),
    "ts.as_torch": ("install_as_torch",),
    "ts.python_api.tensor_types": (
        "FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "ByteTensor", "CharTensor",
        "ShortTensor", "IntTensor", "LongTensor", "BoolTensor", "set_default_tensor_type",
    ),
    "ts.python_api.storage_types": (
        "DoubleStorage", "FloatStorage", "HalfStorage", "BFloat16Storage", "LongStorage", "IntStorage",
        "ShortStorage", "CharStorage", "ByteStorage", "BoolStorage", "ComplexDoubleStorage",
        "ComplexFloatStorage", "Storage",
    ),
    "ts.python_api.sym_functions": (
        "sym_int", "sym_float", "sym_not", "sym_max", "sym_min", "sym_ite", "sym_sqrt", "sym_sum",
        "_check", "_check_index", "_check_is_size", "_check_not_implemented", "_check_tensor_all",
        "_check_type", "_check_value", "_check_with",
    ),
    "ts._core.tensor.sym_types": ("SymInt", "SymFloat", "SymBool"),
    "ts.random": (
        "Generator", "manual_seed", "seed", "initial_seed", "default_generator", "get_rng_state",
        "set_rng_state",
    ),
}  # fmt: skip
_NAME_TO_MODULE = {name: module for module, names in _NAMES_OF.items() for name in names}
_NUMBERS = {"e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi}
WRITTEN = frozenset(_NAMES_OF["ts.functional"])  # functions that scripts can compile
_MODULES = frozenset({
    "__config__", "__future__", "_dynamo", "_functorch", "_higher_order_ops", "_jit_internal", "_subclasses",
    "_utils", "_vmap_internals", "unsupported", "as_torch", "torch_version",
    "accelerator", "amp", "analysis", "archive", "autograd", "backends", "bytecode", "classes", "cli",
    "compiler", "cpu",
    "cuda", "debugger", "devices", "distributed", "distributions", "dtypes", "errors", "fft", "frontend",
    "func", "functional", "python_api", "futures", "fx", "hub", "ir", "jit", "library", "linalg", "masked",
    "mps", "multiprocessing", "nn", "ops", "optim", "overrides", "passes", "profiler", "quasirandom",
    "random", "return_types", "runtime", "serialization", "signal", "sparse", "special", "testing",
    "tracing",
    "types",
    "utils", "version", "xpu",
})  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return a public name, which is imported on first use (lazy loading)."""
    from ts._core.value.build_lock import import_lock
    from ts.runtime.gc_pause import gc_disabled
    from ts.runtime.python_frame_stack import preallocate_frames

    with import_lock():
        value = _find_imported_operator(name)
        if value is None:
            with gc_disabled():
                value = preallocate_frames(_find, name)
        globals()[name] = value
    return value


def _find_imported_operator(name: str) -> Any:
    """Return the function of an operator whose family is imported. Return None for all other names."""
    registry = sys.modules.get("ts.ops.registry")
    if registry is None or name in _MODULES or name in _NAME_TO_MODULE or name in _NUMBERS:
        return None
    return None if name in sys.modules["ts.dtypes"].NAMES else registry.imported_function(name)


def _find(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"ts.{name}")
    if name in _NAME_TO_MODULE:
        value = getattr(importlib.import_module(_NAME_TO_MODULE[name]), name)
        if name == "Tensor":
            importlib.import_module("ts.ops.lazy_methods").announce()
        return value
    if name in _NUMBERS:
        return _NUMBERS[name]
    if name == "__version__":
        version = importlib.import_module("ts.version").__version__
        return importlib.import_module("ts.torch_version").TorchVersion(version)
    if name in ("_C", "_VF"):
        return importlib.import_module(f"ts.{name}")
    if name == "torch":  # PyTorch defines `torch.torch`, too
        return importlib.import_module("ts")
    if name.startswith("__"):
        raise AttributeError(f"module 'ts' has no attribute '{name}'")
    dtypes = importlib.import_module("ts.dtypes").NAMES
    if name in dtypes:
        return dtypes[name]
    try:
        return importlib.import_module("ts.ops.registry").function(name)
    except AttributeError:
        placeholder = importlib.import_module("ts.unsupported").find(name)
        if placeholder is None:
            raise
        return placeholder


_install_finder()


def __dir__() -> list[str]:
    from ts import dtypes
    from ts.ops import registry

    functions = registry.python_names("f")
    return sorted({*globals(), *_NAME_TO_MODULE, *_MODULES, *_NUMBERS, *dtypes.NAMES, *functions})
