"""Areas of PyTorch that `ts` does not implement, with alternatives; an entry includes its submodules."""

from __future__ import annotations

from typing import Final, NamedTuple


class Area(NamedTuple):
    """Area of PyTorch that `ts` does not implement.

    missing  noun phrase that completes "ts does not have"; "" if `ts` implements most of the area
    instead  sentence that names an alternative
    """

    missing: str
    instead: str


_COMPILER = "`ts.jit.script` and `ts.jit.trace` compile; eager code runs as it is."
_QUANTIZED = "Quantized archives of PyTorch are loaded with `ts.jit.load`; 16-bit floats halve the memory."
_DEVICES = "Tensors are on the CPU, or on CUDA devices by CuPy."

AREAS: Final = {
    "": Area("", "docs/reference/known-issues.md lists what is missing."),
    "_C": Area("", "`ts.jit` and `ts.passes` have the compiler's functions."),
    "onnx": Area("an exporter to ONNX", "Save the model with `ts.jit.save`; PyTorch loads it."),
    "ao": Area("quantization tools", _QUANTIZED),
    "ao.pruning": Area("sparsifiers", "`ts.nn.utils.prune` prunes parameters."),
    "quantization": Area("quantization tools", _QUANTIZED),
    "quantize_per_tensor": Area("quantized tensors", _QUANTIZED),
    "quantize_per_tensor_dynamic": Area("quantized tensors", _QUANTIZED),
    "quantize_per_channel": Area("quantized tensors", _QUANTIZED),
    "quantized_rnn_tanh_cell": Area("quantized tensors", _QUANTIZED),
    "nn.quantized": Area("quantized layers", _QUANTIZED),
    "nn.qat": Area("layers for quantization-aware training", _QUANTIZED),
    "nn.quantizable": Area("quantizable layers", _QUANTIZED),
    "nn.intrinsic": Area("fused layers", "Scripts fuse operators."),
    "nn.attention": Area(
        "attention kernels compiled for each mask",
        "`ts.nn.functional.scaled_dot_product_attention` takes masks.",
    ),
    "nn.parallel": Area(
        "modules on several devices of one process",
        "`ts.nn.parallel.DistributedDataParallel` trains in several processes: "
        "see docs/how-to/train-on-several-processes.md.",
    ),
    "fx": Area("", "docs/how-to/transform-graphs-with-fx.md lists what `ts.fx` has."),
    "export": Area("", "docs/how-to/export-to-pt2.md shows what `ts.export` has."),
    "_export": Area("", "docs/how-to/export-to-pt2.md shows what `ts.export` has."),
    "package": Area("packages of code", "`ts.jit.save` writes code and weights to one file."),
    "monitor": Area("monitoring counters", "`ts.profiler` measures."),
    "ops": Area("", "docs/reference/operators/missing-operators.md lists missing operators with reasons."),
    "sparse": Area("these sparse tensors", "Use dense tensors, or `scipy.sparse`."),
    "nested": Area("nested tensors", "Pad, or use lists of tensors."),
    "masked": Area("masked tensors", "`ts.masked` has reductions with masks of dense tensors."),
    "utils.cpp_extension": Area(
        "C++ extensions", "docs/how-to/add-a-backend.md shows how to add a kernel in Cython or Python."
    ),
    "utils.hipify": Area(
        "C++ extensions", "docs/how-to/add-a-backend.md shows how to add a kernel in Cython or Python."
    ),
    "utils.tensorboard": Area(
        "this writer without the package `tensorboard`", "Install `tensorboard`, or use `tensorboardX`."
    ),
    "utils.flop_counter": Area("a FLOP counter", "`ts.profiler.profile()` counts calls and times."),
    "utils.bundled_inputs": Area("bundled inputs", "Save the inputs with `ts.save`."),
    "utils.mobile_optimizer": Area("a mobile format", "`ts.jit.optimize_for_inference` optimises."),
    "utils.throughput_benchmark": Area("this benchmark", "`ts bench model.pt` measures archives."),
    "utils.module_tracker": Area("a module tracker", "Forward hooks of modules see which one runs."),
    "utils.mkldnn": Area("MKL-DNN tensors", "Convolutions and products choose their layout."),
    "utils.data": Area("data pipes", "Use `IterableDataset` and `DataLoader`."),
    "utils.data._utils": Area("", "`ts.utils.data.DataLoader` has its own workers."),
    "utils._python_dispatch": Area(
        "modes below the dispatcher", "`ts.overrides` intercepts functions above it."
    ),
    "distributed": Area(
        "",
        "docs/how-to/train-on-several-processes.md lists what is there: process groups on the CPU "
        "and `DistributedDataParallel`.",
    ),
    "distributed.fsdp": Area(
        "sharded parameters",
        "`ts.nn.parallel.DistributedDataParallel` trains in several processes: "
        "see docs/how-to/train-on-several-processes.md.",
    ),
    "distributed.tensor": Area(
        "distributed tensors",
        "Process groups exchange tensors: see docs/how-to/train-on-several-processes.md.",
    ),
    "distributed.pipelining": Area(
        "pipeline parallelism", "`ts.distributed.rpc` calls modules of other processes."
    ),
    "distributed.checkpoint": Area(
        "distributed checkpoints", "`ts.save` and `ts.load` write and read states."
    ),
    "multiprocessing": Area("", "docs/reference/known-issues.md lists what is missing."),
    "cuda": Area("", "Tensors on CUDA devices are computed by CuPy."),
    "mtia": Area("such devices", _DEVICES),
    "xpu": Area("such devices", _DEVICES),
    "mps": Area("such devices", _DEVICES),
    "cpu": Area("CPU streams", "Operators have run when they return."),
    "backends": Area("", "`ts.backends` lists the libraries that compute."),
    "profiler": Area("", "`ts.profiler.profile()` measures operators, plans and memory."),
    "autograd.profiler": Area("", "`ts.profiler.profile()` measures operators."),
    "autograd.profiler_util": Area("", "`ts.profiler.profile()` measures operators."),
    "jit.mobile": Area("a mobile format", "`ts.jit.save` writes archives that PyTorch loads."),
    "jit.quantized": Area("quantized layers", _QUANTIZED),
    "jit": Area("", "docs/reference/known-issues.md lists what is missing."),
    "testing._internal": Area("PyTorch's test tools", "`ts.testing` has `assert_close` and `make_tensor`."),
    "_dynamo": Area("a compiler of Python bytecode", _COMPILER),
    "_inductor": Area("a code generator behind `compile`", _COMPILER),
    "_functorch": Area("a compiler of joint graphs", _COMPILER),
    "_higher_order_ops": Area("these higher-order operators", _COMPILER),
    "_subclasses": Area("", 'Tensors of `device="meta"` have shapes and no elements.'),
}  # fmt: skip


def area_of(path: str) -> Area:
    """Return the area of a missing object by its path in PyTorch (`onnx.errors`)."""
    while path not in AREAS:
        path = path.rpartition(".")[0]
    return AREAS[path]


def missing_message(path: str) -> str:
    """Return the error message for the use of a missing object, by its path in PyTorch."""
    missing, instead = area_of(path)
    reason = f": ts does not have {missing}" if missing else " in ts"
    package = "" if path.startswith("functorch.") else "torch."
    return f"{package}{path} is not implemented{reason}. {instead}"
