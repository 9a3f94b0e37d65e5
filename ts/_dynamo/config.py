"""Settings of TorchDynamo, which are stored without effect, because `ts` does not have this compiler.

The example changes a setting in a `with` block. `patch` is also a decorator:

    with ts._dynamo.config.patch(suppress_errors=True): ...
"""

from __future__ import annotations

import sys
from contextlib import ContextDecorator
from typing import Any

cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = accumulated_recompile_limit = 256
suppress_errors = verbose = capture_scalar_outputs = capture_dynamic_output_shape_ops = False
assume_static_by_default = automatic_dynamic_shapes = True
optimize_ddp = force_parameter_static_shapes = inline_inbuilt_nn_modules = guard_nn_modules = True
specialize_int = allow_unspec_int_on_nn_module = error_on_recompile = disable = trace_autograd_ops = False
skip_fwd_side_effects_in_bwd_under_checkpoint = False


class patch(ContextDecorator):
    """Change settings during a `with` block, or during calls of a decorated function."""

    def __init__(self, arg1: Any = None, arg2: Any = None, **kwargs: Any) -> None:
        self._changes: dict[str, Any] = {arg1: arg2} if isinstance(arg1, str) else {**(arg1 or {}), **kwargs}
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        settings = vars(sys.modules[__name__])
        for name in self._changes:
            if name not in settings:
                raise AttributeError(f"torch._dynamo.config.{name} does not exist", name=name)
        self._before.append({name: settings[name] for name in self._changes})
        settings.update(self._changes)

    def __exit__(self, *error: object) -> None:
        vars(sys.modules[__name__]).update(self._before.pop())
