"""Fused groups on CUDA devices: one kernel each.

In: a group's program (`ts.fusion.program`), then its tensors and numbers.  Out: arrays by value; of an end
that has no way in the kernel, what it reads.  None where the nodes of the group have to run one by one: on
several devices, on dtypes or shapes that have no way, where somebody has replaced one of its operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor

from .planning import Rows
from .pointwise import Launches, Plan


class Group:
    """A program, and how it runs on the inputs that came."""

    device = "cuda"

    def __init__(self, backend: Any, program: Any) -> None:
        self._backend = backend
        rows, ends = (
            [(row.operator.record, row.operands) for row in rows] for rows in (program.rows, program.ends)
        )
        self._records = [record for record, _ in (*rows, *ends)]
        self._launches = Launches(Rows(rows, program.outputs, ends))
        self.left = 0  # calls that ran one by one for numbers, devices or replaced operators

    @property
    def plans(self) -> list[Plan]:
        """What it runs, or why not, by inputs."""
        return list(self._launches.plans.values())

    def __call__(self, args: Sequence[Any]) -> dict[int, Any] | None:
        tensors = [x for x in args if isinstance(x, Tensor)]
        place = {(x.backend, x.device_index) for x in tensors}
        if len(place) > 1 or (self._backend.overrides and any(map(self._backend.overridden, self._records))):
            self.left += 1
            return None
        with self._backend.on(tensors[0].device_index):
            values = [x.array if isinstance(x, Tensor) else x for x in args]
            plan = self._launches.plan(values)
            made = plan.run(values)
        self.left += made is None and not plan.refused
        return None if made is None else dict(zip(plan.given, made, strict=True))
