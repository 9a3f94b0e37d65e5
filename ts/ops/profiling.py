"""Labels of a profiler in scripts: `with ts.profiler.record_function("name")` is these two, PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ts._core.dispatch.recorder import enter_label, leave_label
from ts.ops import rules
from ts.ops.registry import op

Array = rules.Array


@op("profiler::_record_function_enter(str name, str? args=None) -> Tensor", where="", side_effect=True)
def _record_function_enter(xp: Any, name: str, args: str | None = None) -> Array:
    return xp.asarray(np.asarray(enter_label(name, args)))


@op("profiler::_record_function_exit(Tensor _0) -> ()", where="", side_effect=True)
def _record_function_exit(xp: Any, _0: Array) -> None:
    leave_label(int(_0))
