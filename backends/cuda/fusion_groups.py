"""Fusion groups on CUDA devices (kernel fusion): one kernel per group.

Input: the program of a group (`ts.fusion.program`), and the inputs of a call. Output: a dict from value
numbers to arrays.

An epilogue is an operator that reads whole rows of the group's results. If it cannot be fused, the dict
contains its input instead of its result. The output is None if the operators must run one by one, such as for
inputs on several devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor

from .kernel_specialization import OperatorGroup
from .pointwise_launch import FusedGroupLauncher, GroupLaunch


class CudaFusionGroup:
    """A fusion group on CUDA: the program, and one launch plan per combination of input types."""

    device = "cuda"

    def __init__(self, backend: Any, program: Any) -> None:
        self._backend = backend
        rows, epilogues = (
            [(row.operator.record, row.operands) for row in rows]
            for rows in (program.operations, program.epilogues)
        )
        self._records = [record for record, _ in (*rows, *epilogues)]
        self._launcher = FusedGroupLauncher(OperatorGroup(rows, program.outputs, epilogues))
        # Number of calls in which the operators ran one by one, because the devices or the values of numbers
        # are unsupported, or because an operator is overridden.
        self.unfused_calls = 0

    @property
    def plans(self) -> list[GroupLaunch]:
        """Launch plans of all calls so far, one for each combination of input types, supported or not."""
        return list(self._launcher.launches.values())

    def __call__(self, args: Sequence[Any]) -> dict[int, Any] | None:
        """Run the group. Return {value number: array}, or None if the operators must run one by one.

        The group cannot run for inputs on several devices, or if an operator is overridden.
        """
        tensors = [x for x in args if isinstance(x, Tensor)]
        devices = {(x.backend, x.device_index) for x in tensors}
        if len(devices) > 1 or (
            self._backend.overrides and any(map(self._backend.overridden, self._records))
        ):
            self.unfused_calls += 1
            return None
        with self._backend.on(tensors[0].device_index):
            values = [x.array if isinstance(x, Tensor) else x for x in args]
            launch = self._launcher.find_launch(values)
            results = launch.run(values)
        self.unfused_calls += results is None and not launch.unsupported_reason
        return None if results is None else dict(zip(launch.result_values, results, strict=True))
