"""Areas of PyTorch that `ts` does not implement, with alternatives.

An area is a module with its submodules, or a function. For example, the alternative to `torch.onnx` is to
save the model with `ts.jit.save`.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class UnsupportedArea(NamedTuple):
    """Area of PyTorch that `ts` does not implement.

    missing  noun phrase that completes "ts does not have", or "" if `ts` implements most of the area
    instead  sentence that names an alternative
    """

    missing: str
    instead: str


_COMPILER = "`ts.jit.script` and `ts.jit.trace` compile; eager code runs as it is."
_QUANTIZED = "Quantized archives of PyTorch are loaded with `ts.jit.load`; 16-bit floats halve the memory."
_DEVICES = "Tensors are on the CPU, or on CUDA devices with CuPy."

AREAS: Final = {
    "": UnsupportedArea("", "docs/reference/known-issues.md lists unsupported features."),
    "_C": UnsupportedArea("", "`ts.jit` and `ts.passes` provide the compiler's functions."),
    "onnx": UnsupportedArea("an exporter to ONNX", "Save the model with `ts.jit.save`; PyTorch loads it."),
    "ao": UnsupportedArea("quantization tools", _QUANTIZED),
    "ao.pruning": UnsupportedArea("sparsifiers", "`ts.nn.utils.prune` prunes parameters."),
    "quantization": UnsupportedArea("quantization tools", _QUANTIZED),
    "quantize_per_tensor": UnsupportedArea("quantized tensors", _QUANTIZED),
    "quantize_per_tensor_dynamic": UnsupportedArea("quantized tensors", _QUANTIZED),
    "quantize_per_channel": UnsupportedArea("quantized tensors", _QUANTIZED),
    "quantized_rnn_tanh_cell": UnsupportedArea("quantized tensors", _QUANTIZED),
    "nn.quantized": UnsupportedArea("quantized layers", _QUANTIZED),
    "nn.qat": UnsupportedArea("layers for quantization-aware training", _QUANTIZED),
    "nn.quantizable": UnsupportedArea("quantizable layers", _QUANTIZED),
    "nn.intrinsic": UnsupportedArea("fused layers", "Scripts fuse operators."),
    "nn.attention": UnsupportedArea(
        "attention kernels compiled for each mask",
        "`ts.nn.functional.scaled_dot_product_attention` accepts masks.",
    ),
    "nn.parallel": UnsupportedArea(
        "modules on several devices of one process",
        "`ts.nn.parallel.DistributedDataParallel` trains in several processes: "
        "see docs/how-to/train-on-several-processes.md.",
    ),
    "fx": UnsupportedArea("", "docs/how-to/transform-graphs-with-fx.md lists the functions of `ts.fx`."),
    "export": UnsupportedArea("", "docs/how-to/export-to-pt2.md lists the functions of `ts.export`."),
    "_export": UnsupportedArea("", "docs/how-to/export-to-pt2.md lists the functions of `ts.export`."),
    "package": UnsupportedArea("packages of code", "`ts.jit.save` writes code and weights to one file."),
    "monitor": UnsupportedArea("monitoring counters", "`ts.profiler` measures times and counts."),
    "ops": UnsupportedArea("",
    "docs/reference/operators/missing-operators.md lists missing operators with reasons."),
    "sparse": UnsupportedArea("these sparse tensors", "Use dense tensors, or `scipy.sparse`."),
    "nested": UnsupportedArea("nested tensors", "Pad, or use lists of tensors."),
    "masked": UnsupportedArea("masked tensors", "`ts.masked` has reductions with masks of dense tensors."),
    "utils.cpp_extension": UnsupportedArea(
        "C++ extensions", "docs/how-to/add-a-backend.md shows how to add a kernel in Cython or Python."
    ),
    "utils.hipify": UnsupportedArea(
        "C++ extensions", "docs/how-to/add-a-backend.md shows how to add a kernel in Cython or Python."
    ),
    "utils.tensorboard": UnsupportedArea(
        "this writer without the package `tensorboard`", "Install `tensorboard`, or use `tensorboardX`."
    ),
    "utils.flop_counter": UnsupportedArea("a FLOP counter",
    "`ts.profiler.profile()` counts calls and times."),
    "utils.bundled_inputs": UnsupportedArea("bundled inputs", "Save the inputs with `ts.save`."),
    "utils.mobile_optimizer": UnsupportedArea("a mobile format",
    "`ts.jit.optimize_for_inference` optimises."),
    "utils.throughput_benchmark": UnsupportedArea("this benchmark", "`ts bench model.pt` measures archives."),
    "utils.module_tracker": UnsupportedArea("a module tracker",
    "Forward hooks of modules show which module runs."),
    "utils.mkldnn": UnsupportedArea("MKL-DNN tensors", "Convolutions select their layout."),
    "utils.data": UnsupportedArea("data pipes", "Use `IterableDataset` and `DataLoader`."),
    "utils.data._utils": UnsupportedArea("", "`ts.utils.data.DataLoader` has its own workers."),
    "utils._python_dispatch": UnsupportedArea(
        "modes below the dispatcher", "`ts.overrides` intercepts functions above it."
    ),
    "distributed": UnsupportedArea(
        "",
        "docs/how-to/train-on-several-processes.md describes process groups on the CPU "
        "and `DistributedDataParallel`.",
    ),
    "distributed.fsdp": UnsupportedArea(
        "sharded parameters",
        "`ts.nn.parallel.DistributedDataParallel` trains in several processes: "
        "see docs/how-to/train-on-several-processes.md.",
    ),
    "distributed.tensor": UnsupportedArea(
        "distributed tensors",
        "Process groups exchange tensors: see docs/how-to/train-on-several-processes.md.",
    ),
    "distributed.pipelining": UnsupportedArea(
        "pipeline parallelism", "`ts.distributed.rpc` calls modules of other processes."
    ),
    "distributed.checkpoint": UnsupportedArea(
        "distributed checkpoints", "`ts.save` and `ts.load` write and read states."
    ),
    "multiprocessing": UnsupportedArea("", "docs/reference/known-issues.md lists unsupported features."),
    "cuda": UnsupportedArea("", "Tensors on CUDA devices are computed by CuPy."),
    "mtia": UnsupportedArea("such devices", _DEVICES),
    "xpu": UnsupportedArea("such devices", _DEVICES),
    "mps": UnsupportedArea("such devices", _DEVICES),
    "cpu": UnsupportedArea("CPU streams", "Operators on the CPU finish before they return."),
    "backends": UnsupportedArea("", "`ts.backends` lists the kernel libraries."),
    "profiler": UnsupportedArea("", "`ts.profiler.profile()` measures operators, plans and memory."),
    "autograd.profiler": UnsupportedArea("", "`ts.profiler.profile()` measures operators."),
    "autograd.profiler_util": UnsupportedArea("", "`ts.profiler.profile()` measures operators."),
    "jit.mobile": UnsupportedArea("a mobile format", "`ts.jit.save` writes archives that PyTorch loads."),
    "jit.quantized": UnsupportedArea("quantized layers", _QUANTIZED),
    "jit": UnsupportedArea("", "docs/reference/known-issues.md lists unsupported features."),
    "testing._internal": UnsupportedArea("PyTorch's test tools",
    "`ts.testing` has `assert_close` and `make_tensor`."),
    "_dynamo": UnsupportedArea("a compiler of Python bytecode", _COMPILER),
    "_inductor": UnsupportedArea("a code generator for `compile`", _COMPILER),
    "_functorch": UnsupportedArea("a compiler of joint graphs", _COMPILER),
    "_higher_order_ops": UnsupportedArea("these higher-order operators", _COMPILER),
    "_subclasses": UnsupportedArea("", 'Tensors of `device="meta"` have shapes and no elements.'),
}  # fmt: skip


def area_of(path: str) -> UnsupportedArea:
    """Return the area of a missing object, by path in PyTorch, such as `onnx.errors`."""
    while path not in AREAS:
        path = path.rpartition(".")[0]
    return AREAS[path]


def missing_message(path: str) -> str:
    """Return the error message for the use of a missing object, by path in PyTorch."""
    missing, instead = area_of(path)
    reason = f": ts does not have {missing}" if missing else " in ts"
    package = "" if path.startswith("functorch.") else "torch."
    return f"{package}{path} is not implemented{reason}. {instead}"
