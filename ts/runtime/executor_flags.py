"""Flags of PyTorch's executor and fusers, which are stored. Only those of the profiling mode have an effect.

The first line returns the previous value, True:

    torch._C._jit_set_profiling_executor(False)
    with torch.jit.fuser("fuser1"): ...

`ts` has one executor, with its own fusion rules. `optimized_execution(False)` disables its optimizations. As
in PyTorch, a function is optimized after `_jit_set_num_profiled_runs(n)` calls, if one of the flags
`profiling_mode` and `num_profiled_runs` was set. Otherwise, `ts.runtime.tiers` determines this number.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ts.frontend.compile_directives import is_scripting
from ts.runtime.tiers import set_baseline_calls

# Flag -> its value, which is initially the same as in PyTorch.
_values: dict[str, Any] = {
    "profiling_executor": True, "profiling_mode": True, "bailout_depth": 12, "num_profiled_runs": 1,
    "texpr_fuser": True, "can_fuse_on_cpu": True, "can_fuse_on_gpu": True, "can_fuse_on_cpu_legacy": False,
    "texpr_reductions": False, "texpr_dynamic_shape": False, "texpr_fallback_allowed": True, "nvfuser": False,
    "nvfuser_horizontal_mode": True, "nvfuser_single_node_mode": False, "nvfuser_guard_mode": True,
    "llga": False, "te_must_use_llvm_cpu": False, "te_generate_block_code": False, "autocast_mode": True,
    "cat_wo_conditionals": False, "opt_conditionals": False,
}  # fmt: skip
# Dict from the name of a setter in `torch._C` to the flag that it sets. A setter returns the flag's previous
# value, or None.
_SETTERS: Final = {
    "_jit_set_profiling_executor": "profiling_executor", "_jit_set_profiling_mode": "profiling_mode",
    "_jit_set_bailout_depth": "bailout_depth", "_jit_set_num_profiled_runs": "num_profiled_runs",
    "_jit_set_texpr_fuser_enabled": "texpr_fuser", "_jit_override_can_fuse_on_cpu": "can_fuse_on_cpu",
    "_jit_override_can_fuse_on_gpu": "can_fuse_on_gpu",
    "_jit_override_can_fuse_on_cpu_legacy": "can_fuse_on_cpu_legacy",
    "_jit_set_texpr_reductions_enabled": "texpr_reductions",
    "_jit_set_texpr_dynamic_shape_enabled": "texpr_dynamic_shape",
    "_jit_texpr_set_fallback_allowed": "texpr_fallback_allowed", "_jit_set_nvfuser_enabled": "nvfuser",
    "_jit_set_nvfuser_horizontal_mode": "nvfuser_horizontal_mode",
    "_jit_set_nvfuser_single_node_mode": "nvfuser_single_node_mode",
    "_jit_set_nvfuser_guard_mode": "nvfuser_guard_mode", "_jit_set_llga_enabled": "llga",
    "_jit_set_te_must_use_llvm_cpu": "te_must_use_llvm_cpu",
    "_jit_set_te_generate_block_code": "te_generate_block_code", "_jit_set_autocast_mode": "autocast_mode",
    "_jit_cat_wo_conditionals": "cat_wo_conditionals", "_jit_opt_conditionals": "opt_conditionals",
}  # fmt: skip
_GETTERS: Final = {
    "_jit_get_num_profiled_runs": "num_profiled_runs", "_jit_texpr_fuser_enabled": "texpr_fuser",
    "_jit_can_fuse_on_cpu": "can_fuse_on_cpu", "_jit_can_fuse_on_gpu": "can_fuse_on_gpu",
    "_jit_can_fuse_on_cpu_legacy": "can_fuse_on_cpu_legacy",
    "_jit_texpr_reductions_enabled": "texpr_reductions",
    "_jit_texpr_dynamic_shape_enabled": "texpr_dynamic_shape",
    "_jit_texpr_fallback_allowed": "texpr_fallback_allowed", "_jit_nvfuser_enabled": "nvfuser",
    "_jit_llga_enabled": "llga", "_jit_get_te_must_use_llvm_cpu": "te_must_use_llvm_cpu",
    "_jit_get_te_generate_block_code": "te_generate_block_code",
}  # fmt: skip
_PROFILING: Final = ("profiling_mode", "num_profiled_runs")
_SETTERS_WITHOUT_RESULT: Final = ("texpr_fuser", "can_fuse", "llga", "te_", "cat_", "opt_")


def find_flag_function(name: str) -> Callable[..., Any] | None:
    """Return the flag setter or getter of `torch._C` named `name`, or None for other names."""
    if name in _SETTERS:
        key = _SETTERS[name]

        def change(value: Any) -> Any:
            before, _values[key] = _values[key], value
            if key in _PROFILING:
                set_baseline_calls(_values["num_profiled_runs"] if _values["profiling_mode"] else None)
            return None if key.startswith(_SETTERS_WITHOUT_RESULT) else before

        return change
    if name in _GETTERS:
        return lambda: _values[_GETTERS[name]]
    return None


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """Accept PyTorch's fuser names "fuser0" to "fuser3" without effect. Raise Exception for other names."""
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3"):
        raise Exception(f"unrecognized fuser option (name: {name})")
    yield


class strict_fusion:
    """Context manager in scripts, which has no effect. PyTorch raises an error if a node is not fused.

    `fn.plan` reports unfused nodes.
    """

    __module__ = "ts.jit"  # module name in graph text

    def __init__(self) -> None:
        if not is_scripting():
            warnings.warn("Only works in script mode", stacklevel=2)

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, type: Any, value: Any, tb: Any) -> None:
        """Do nothing."""


def enable_onednn_fusion(enabled: bool) -> None:
    """Store the flag of PyTorch's oneDNN fuser."""
    _values["llga"] = enabled


def onednn_fusion_enabled() -> bool:
    """Return the flag of PyTorch's oneDNN fuser."""
    return bool(_values["llga"])
