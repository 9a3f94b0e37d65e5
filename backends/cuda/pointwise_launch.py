"""Kernel launch and runtime compilation (NVRTC, kernel cache) of CUDA kernels, one per operator or group.

Input: operator records with the numbers of the values that they read, then arrays and numbers. Output:
arrays, or None for unsupported inputs.

Each launcher caches plans, and the process caches kernels. CuPy caches compiled kernels on disk. The
following lines run a single record, and a group for (x * y) + x:

    make_launcher(record)(xp, x, y)
    FusedGroupLauncher(OperatorGroup([(mul, (0, 1)), (add, (2, 0))], (3,))).run([x, y])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import cupy

from . import kernel_sources, kernel_specialization, pointwise_codegen, row_reduction_codegen

Kernel = Callable[..., Any]

MAX_CACHED_LAUNCHES = 256
MAX_CACHED_KERNELS = 1024


def group_of_record(record: Any) -> kernel_specialization.OperatorGroup | None:
    """Return a group with the operator of `record`, or None if `record` has no CUDA expression."""
    if record.cuda_rows is not None:
        count = len(record.schema.arguments)
        return kernel_specialization.OperatorGroup([], (count,), [(record, tuple(range(count)))])
    arity = kernel_sources.arity(record)
    return kernel_specialization.OperatorGroup([(record, tuple(range(arity)))], (arity,)) if arity else None


def make_launcher(record: Any) -> Kernel | None:
    """Return a kernel that runs the CUDA expression of `record`, or None if `record` has no CUDA expression.

    If the arguments are unsupported, the returned kernel calls the operator's Python kernel.
    """
    group = group_of_record(record)
    if group is None:
        return None
    launcher, count = FusedGroupLauncher(group), group.outputs[0]
    has_alpha = bool(group.ops) and kernel_sources.has_alpha(record)

    def kernel(xp: Any, *args: Any) -> Any:
        if not has_alpha or len(args) == count or (args[count] is not True and args[count] == 1):
            results = launcher.run(args[:count])
            if results is not None:
                return results[0]
        return record.kernel(xp, *args)

    return kernel


class GroupLaunch:
    """Launch plan of a group for inputs of given types, or the reason why the group cannot run on them."""

    def __init__(
        self, inputs: Sequence[Any], requirements: kernel_specialization.KernelRequirements | str
    ) -> None:
        # description of each input: dtype and shape, or type of a number
        self.inputs = [_describe_input(x) for x in inputs]
        self.runs = 0
        self.unsupported_reason = requirements if isinstance(requirements, str) else ""
        self.result_values: tuple[int, ...] = ()
        self.unfused: dict[int, str] = {}  # value number of an epilogue -> reason why it runs separately
        if isinstance(requirements, str):
            return
        self.result_values, self.unfused = requirements.result_values, requirements.unfused
        self._number_uses = requirements.number_uses
        self._launch = KernelLaunch(requirements)

    def run(self, values: Sequence[Any]) -> list[Any] | None:
        """Return the arrays with the numbers in `result_values`, or None if `values` are unsupported."""
        if self.unsupported_reason:
            return None
        for index, dtype, strict in self._number_uses:
            if not kernel_specialization.is_representable(values[index], dtype, strict):
                return None
        results = self._launch(values)
        self.runs += 1
        return results


class KernelLaunch:
    """A compiled kernel, and the kernels that combine its results for chunks of rows."""

    def __init__(self, requirements: kernel_specialization.KernelRequirements) -> None:
        self._requirements = requirements
        self._blocks = min(requirements.blocks, kernel_specialization.MAX_BLOCKS)
        self._function = _kernel(requirements.spec) if requirements.blocks else None
        self._followups = [(index, KernelLaunch(followup)) for index, followup in requirements.followups]

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """Run the kernel on the inputs and return its results."""
        requirements = self._requirements
        results = [_empty(*result) for result in requirements.results]
        if self._blocks:
            inputs = [_argument(values[index], kind) for index, kind in requirements.input_arguments]
            epilogue_arguments = [
                _argument(values[index], kind) for index, kind in requirements.epilogue_arguments
            ]
            sizes = self._blocks, requirements.threads, requirements.shared
            launch_kernel(
                self._function, sizes, (*inputs, *results, *epilogue_arguments, *requirements.geometry)
            )
        for index, followup in self._followups:
            results[index] = followup([*values, results[index]])[0]
        return results


def _argument(value: Any, kind: Any) -> Any:
    return value if kind is None else kind(value)


def launch_kernel(function: Any, sizes: tuple[int, int, int], arguments: tuple[Any, ...]) -> None:
    """Launch a kernel. `sizes` are blocks, threads per block, and bytes of shared memory per block."""
    blocks, threads, shared = sizes
    function((blocks,), (threads,), arguments, shared_mem=shared)


def _empty(dtype: Any, shape: Sequence[int], order: list[int] | None) -> Any:
    if order is None:
        return cupy.empty(shape, dtype)
    return cupy.empty([shape[d] for d in order], dtype).transpose([order.index(d) for d in range(len(shape))])


def generate_source(spec: pointwise_codegen.KernelSpec | row_reduction_codegen.RowKernelSpec) -> str:
    """Return the CUDA source of the pointwise or row kernel that `spec` describes."""
    if isinstance(spec, row_reduction_codegen.RowKernelSpec):
        return row_reduction_codegen.generate_source(spec)
    return pointwise_codegen.generate_source(spec)


@lru_cache(MAX_CACHED_KERNELS)
def _kernel(spec: pointwise_codegen.KernelSpec | row_reduction_codegen.RowKernelSpec) -> Any:
    """Return a new kernel, or an earlier one from the kernel cache."""
    return cupy.RawKernel(generate_source(spec), pointwise_codegen.NAME, options=kernel_sources.OPTIONS)


class FusedGroupLauncher:
    """A group of operators, with a cache of launch plans by types of the inputs."""

    def __init__(self, group: kernel_specialization.OperatorGroup) -> None:
        self.group = group
        self._epilogue_arguments = group.epilogue_arguments()
        self.launches: dict[tuple[Any, ...], GroupLaunch] = {}

    def run(self, values: Sequence[Any]) -> list[Any] | None:
        """Return the results, or None if the group cannot run on these inputs."""
        return self.find_launch(values).run(values)

    def find_launch(self, values: Sequence[Any]) -> GroupLaunch:
        """Return the plan for inputs with the dtypes, shapes, strides and alignments of `values`."""
        key = tuple(self._input_key(i, x) for i, x in enumerate(values))
        launch = self.launches.get(key)
        if launch is None:
            op_inputs = [x for i, x in enumerate(values) if i not in self._epilogue_arguments]
            launch = GroupLaunch(op_inputs, kernel_specialization.specialize(self.group, values))
            if len(self.launches) >= MAX_CACHED_LAUNCHES:
                self.launches.pop(next(iter(list(self.launches))), None)
            self.launches[key] = launch
        return launch

    def _input_key(self, index: int, x: Any) -> Any:
        if isinstance(x, cupy.ndarray):
            return x.dtype, x.shape, x.strides, x.data.ptr % kernel_specialization.MAX_LOAD_BYTES
        if index in self._epilogue_arguments:
            return _argument_key(x)
        return type(x) if kernel_specialization.is_number(x) else x


def _argument_key(x: Any) -> Any:
    """Return a cache key for an argument of an epilogue. The keys of True and 1 differ."""
    return tuple(x) if isinstance(x, (list, tuple)) else (type(x), x)


def _describe_input(x: Any) -> str:
    if isinstance(x, cupy.ndarray):
        return f"{x.dtype.name} {tuple(x.shape)}"
    return f"{type(x).__name__} (number)" if kernel_specialization.is_number(x) else repr(x)
