"""Binding of C kernels to operators on the CPU.

`bind` sets the C kernel of an operator to the first that exists in this list:

    the kernel that the field `loop` of the operator record names
    the kernel registered for the operator's name and overload, if `loop` is empty
    a kernel that calls the loops of the operator record's ufunc

`bind` also sets a fallback, which converts unsupported arguments and calls the kernel again.
"""

from ts._core.dispatch.operator cimport Kernel, Operator, set_kernel
from ts._core.tensor.tensor cimport BACKEND_CPU
from ts.backends.cpu.kernels.kernel_registry cimport fallback_of, find_kernel
from ts.backends.cpu.kernels.pointwise cimport bind_loops


def bind(Operator op not None):
    """Set the operator's C kernel for the CPU. Do nothing if only the operator's Python kernel exists."""
    cdef str name = op.record.loop or op.key
    cdef Kernel kernel = find_kernel(name)
    if kernel != NULL:
        set_kernel(op, BACKEND_CPU, kernel, None, fallback_of(name))
    else:
        bind_loops(op)
