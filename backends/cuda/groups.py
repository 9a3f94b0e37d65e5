"""Fused groups on CUDA devices: one kernel each.

In: a group's program (`ts.fusion.program`), then its tensors and numbers.  Out: the results' arrays; None
where the nodes of the group have to run one by one: on several devices, on dtypes or shapes that have no way,
where somebody has replaced one of its operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor

from .pointwise import Plan, Rows


class Group:
    """A program, and how it runs on the inputs that came."""

    device = "cuda"

    def __init__(self, backend: Any, program: Any) -> None:
        self._backend = backend
        self._records = [row.operator.record for row in program.rows]
        rows = [(record, row.operands) for record, row in zip(self._records, program.rows, strict=True)]
        self._rows = Rows(rows, program.outputs)
        self.left = 0  # calls that ran one by one for numbers, devices or replaced operators

    @property
    def plans(self) -> list[Plan]:
        """What it runs, or why not, by inputs."""
        return list(self._rows.plans.values())

    def __call__(self, args: Sequence[Any]) -> list[Any] | None:
        tensors = [x for x in args if isinstance(x, Tensor)]
        place = {(x.backend, x.device_index) for x in tensors}
        if len(place) > 1 or (self._backend.overrides and any(map(self._backend.overridden, self._records))):
            self.left += 1
            return None
        with self._backend.on(tensors[0].device_index):
            values = [x.array if isinstance(x, Tensor) else x for x in args]
            plan = self._rows.plan(values)
            made = plan.run(values)
        self.left += made is None and not plan.refused
        return made
