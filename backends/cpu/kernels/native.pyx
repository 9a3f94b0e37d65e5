"""Which kernel in C an operator has on the CPU.

In: an operator with a record.  Out: its kernel is set, where there is one.

    bind(op)        the kernel that the record names (`loop`), or the operator's own by name and overload, or
                    the loops of the record's ufunc
"""

from ts._core.dispatch.operator cimport Kernel, Operator, set_kernel
from ts._core.tensor.tensor cimport BACKEND_CPU
from ts.backends.cpu.kernels.pointwise cimport bind_loops
from ts.backends.cpu.kernels.table cimport kernel_named


def bind(Operator op not None):
    """Set the operator's kernel for the CPU; nothing where it has only the record's."""
    cdef Kernel kernel = kernel_named(op.record.loop or op.key)
    if kernel != NULL:
        set_kernel(op, BACKEND_CPU, kernel, None)
    else:
        bind_loops(op)
