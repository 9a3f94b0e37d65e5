"""Names of PyTorch's `torch.jit._recursive` that programs call.

Each line shows a call and its result. `scripted._c` is PyTorch's handle of a scripted module:

    create_script_module(net, infer_methods_to_compile)      the same as script(net)
    wrap_cpp_module(scripted._c)                             the scripted module
"""

from __future__ import annotations

from ts.jit.recursive import create_script_module, infer_methods_to_compile
from ts.jit.scripting import python_cu as _python_cu
from ts.runtime.module_handle import wrap_handle as wrap_cpp_module
from ts.unsupported import names_for

__all__ = ["_python_cu", "create_script_module", "infer_methods_to_compile", "wrap_cpp_module"]

__getattr__ = names_for(__name__)
