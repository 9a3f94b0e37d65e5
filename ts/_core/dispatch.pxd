"""Operators as the interpreter sees them: a schema's arity and a kernel pointer.

A kernel reads its arguments from registers and writes its results to registers:

    at[0 .. nargs)                 indices into r of the arguments (borrowed)
    at[nargs .. nargs + nrets)     indices into r of the results; written last, old value released
                                   (a result register may also be an argument register)

It returns 0, or -1 with a Python exception set.  It is called with the GIL held, unless the
operator is `scalar`: then it touches no Python object unless it fails, and takes the GIL itself to raise.
"""

from libc.stdint cimport int32_t

from ts._core.ivalue cimport IValue

ctypedef int (*Kernel)(Operator op, IValue *r, const int32_t *at) except -1


cdef class Operator:
    cdef readonly str name             # "aten::add"
    cdef readonly str overload         # "Tensor", or ""
    cdef readonly str schema_text      # PyTorch's text
    cdef readonly int nargs
    cdef readonly int nrets
    cdef readonly bint scalar          # numbers in, numbers out: may run without the GIL
    cdef Kernel kernel
    cdef void *data                    # what the kernel needs: a ufunc loop, a C function
    cdef public object record          # the operator's record in ts.ops, if it has one
    cdef list implementations          # Python callables by backend index, bound on first use
