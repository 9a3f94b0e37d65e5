"""Operators as the interpreter sees them: a schema's arity and a kernel pointer.

A kernel reads its arguments from registers and writes its results to registers:

    at[0 .. nargs)                 indices into r of the arguments (borrowed)
    at[nargs .. nargs + nrets)     indices into r of the results; written last, old value released
                                   (a result register may also be an argument register)

It returns 0, or -1 with a Python exception set.  It is called with the GIL held, unless the
operator is `scalar`: then it touches no Python object unless it fails, and takes the GIL itself to raise.

Operators made from records of `ts.ops` have one of two kernels: `run_record` (choose a backend,
call the record's Python kernel, wrap) and `run_pointwise`, which first tries the ufunc's inner loop.
"""

from libc.stdint cimport int32_t

from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.elementwise cimport Loops

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
    cdef Loops loops                   # inner loops of a pointwise operator, or None
    cdef bint inplace                  # writes its first argument and returns it
    cdef object schema_                # the parsed schema, where there is no record to hold it
    cdef object signature_             # ts._core.dispatch.signature.Signature, read on first use
    cdef tuple parameters              # its parameters
    cdef tuple return_specs            # TypeSpec of each result
    cdef bint whole                    # its kernel takes and gives tensors, on whatever devices
    cdef int device_at                 # the argument that says on which device to create, or -1
    cdef list written                  # the arguments that it writes
    cdef bint reads                    # ... while it reads the others, element by element
    cdef tuple layouts                 # the rules by which its results lie in memory: `ts.ops.layouts`
    cdef int overlap                   # what it does where elements of these are one place: `overlap.pxd`


# Let records name `kernel`, to be tried before their own.
cdef int register_kernel(str name, Kernel kernel) except -1
# The record's own kernel: what a kernel in C falls back to.
cdef int run_record(Operator op, IValue *r, const int32_t *at) except -1
