"""Why modules are absent, and what to do instead; what holds for a module holds for those in it."""

from __future__ import annotations

from typing import Final, NamedTuple


class Area(NamedTuple):
    """A part of PyTorch that is not there.

    missing  what `ts` has not, to follow "ts has no"
    instead  what to do, a sentence
    """

    missing: str
    instead: str


_COMPILER = "`ts.jit.script` and `ts.jit.trace` compile; eager code runs as it is."
_QUANTIZED = "Quantized archives of PyTorch are loaded with `ts.jit.load`; 16-bit floats halve the memory."

AREAS: Final = {
    "": Area("such object", "docs/status.md lists what is missing."),
    "onnx": Area("export to ONNX", "Save the model with `ts.jit.save`: PyTorch loads it, and exports it."),
    "ao": Area("tools for quantization", _QUANTIZED),
    "quantization": Area("tools for quantization", _QUANTIZED),
    "nn.quantized": Area("quantized layers", _QUANTIZED),
    "nn.qat": Area("layers for training with quantization", _QUANTIZED),
    "nn.quantizable": Area("quantizable layers", _QUANTIZED),
    "nn.intrinsic": Area("layers that are fused by hand", "Scripts fuse operators by themselves."),
    "nn.attention": Area(
        "attention that is compiled for each mask",
        "`ts.nn.functional.scaled_dot_product_attention` takes masks.",
    ),
    "nn.parallel": Area(
        "models on several devices",
        "`ts.nn.parallel.DistributedDataParallel` trains in several processes: see docs/distributed.md.",
    ),
    "fx": Area(
        "this part of `torch.fx`",
        "Graphs, tracing, interpreters, rewriting and the common passes are there: see docs/fx.md.",
    ),
    "export": Area("this part of `torch.export`", "docs/export.md says what is there."),
    "_export": Area("this part of `torch.export`", "docs/export.md says what is there."),
    "package": Area("packages of code", "`ts.jit.save` keeps code and weights in one file."),
    "monitor": Area("counters for services", "`ts.profiler` measures."),
    "ops": Area("such operator", "docs/operators.md lists those that are missing, and why."),
    "sparse": Area("sparse tensors", "Index dense tensors, or use `scipy.sparse`."),
    "nested": Area("nested tensors", "Pad, or use lists of tensors."),
    "masked": Area("masked tensors", "`ts.masked` has reductions with masks of dense tensors."),
    "utils.cpp_extension": Area(
        "extensions in C++", "docs/backends.md shows how to add a kernel in Cython or Python."
    ),
    "utils.tensorboard": Area("a writer for TensorBoard", "Use the package `tensorboardX`, or matplotlib."),
    "utils.flop_counter": Area("a counter of operations", "`ts.profiler.profile()` counts calls and times."),
    "utils.bundled_inputs": Area("bundled inputs", "Save the inputs with `ts.save`."),
    "utils.mobile_optimizer": Area("a mobile format", "`ts.jit.optimize_for_inference` optimises."),
    "utils.throughput_benchmark": Area("this benchmark", "`ts bench model.pt` measures archives."),
    "utils.module_tracker": Area("this tracker", "Forward hooks of modules tell which one runs."),
    "utils.mkldnn": Area("tensors of another library", "Convolutions and products choose their layout."),
    "utils.data": Area("pipes of data", "Use `IterableDataset` and `DataLoader`."),
    "utils._python_dispatch": Area(
        "modes below the dispatcher", "`ts.overrides` intercepts functions above it."
    ),
    "distributed": Area(
        "this part of `torch.distributed`",
        "docs/distributed.md says what is there: process groups on the CPU and `DistributedDataParallel`.",
    ),
    "multiprocessing": Area("tensors shared between processes", "Queues of `ts.multiprocessing` copy them."),
    "cuda": Area("this part of CUDA's interface", "Tensors on CUDA are computed by CuPy."),
    "mtia": Area("such devices", "There are the CPU, and CUDA devices by CuPy."),
    "xpu": Area("such devices", "There are the CPU, and CUDA devices by CuPy."),
    "mps": Area("such devices", "There are the CPU, and CUDA devices by CuPy."),
    "cpu": Area("streams of the CPU", "Operators have run when they return."),
    "backends": Area("this library", "`ts.backends` says what computes here."),
    "profiler": Area("this profiler", "`ts.profiler.profile()` measures operators, plans and memory."),
    "autograd.profiler": Area("this profiler", "`ts.profiler.profile()` measures operators."),
    "autograd.profiler_util": Area("this profiler", "`ts.profiler.profile()` measures operators."),
    "jit": Area("a mobile format", "`ts.jit.save` writes archives that PyTorch loads, too."),
    "_dynamo": Area("a compiler of Python's bytecode", _COMPILER),
    "_inductor": Area("a compiler behind `compile`", _COMPILER),
    "_functorch": Area("a compiler behind `compile`", _COMPILER),
    "_higher_order_ops": Area("operators of the compiler", _COMPILER),
    "_subclasses": Area("fake tensors yet", 'Tensors of `device="meta"` have shapes and no elements.'),
}  # fmt: skip


def area_of(path: str) -> Area:
    """The area of what is absent, by its path in PyTorch (`onnx.errors`)."""
    while path not in AREAS:
        path = path.rpartition(".")[0]
    return AREAS[path]
