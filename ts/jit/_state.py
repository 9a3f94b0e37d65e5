"""Names of PyTorch's `torch.jit._state` that programs call.

Each line shows names and their meaning:

    enable(), disable()      enable or disable compilation by `script` and `trace`
    _python_cu               the compilation unit of all scripted Python functions
"""

from __future__ import annotations

from ts.frontend.naming import clear_names as _clear_class_state
from ts.jit.scripting import python_cu as _python_cu
from ts.runtime.function_cache import FUNCTION_CACHE as _jit_caching_layer
from ts.runtime.function_cache import cache_scripted_function as _set_jit_function_cache
from ts.runtime.function_cache import find_overloads as _try_get_jit_cached_overloads
from ts.runtime.function_cache import find_scripted_function as _try_get_jit_cached_function
from ts.runtime.jit_enabled import disable, enable
from ts.unsupported import names_for

__all__ = [
    "_clear_class_state",
    "_jit_caching_layer",
    "_python_cu",
    "_set_jit_function_cache",
    "_try_get_jit_cached_function",
    "_try_get_jit_cached_overloads",
    "disable",
    "enable",
]

__getattr__ = names_for(__name__)
