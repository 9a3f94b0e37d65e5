"""Specializations of a function: code per argument spec, and general code.

A specialization may rely on one guard word per guarded argument:

    tensor    1 | gradient:1 | backend:6 | device number + 1:8 | dimensions:8 | ScalarType:8
    None      IS_NONE
    other     A_VALUE + tag: a number, a bool, or any other object

Sizes, strides and elements of a tensor are not guarded.  ENTER_PLAN is the only instruction of a function with
specializations; it continues the frame just pushed in the selected code, so that a call needs only one push.
"""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t

from ts._core.value.ivalue cimport IValue
from ts._core.value.spec cimport TypeSpec

cdef enum:
    MAX_GUARDS = 16               # guarded arguments of a function
    MAX_PLANS = 8                 # specializations per function; further arguments run general code
    MAX_BATCH = 4096           # specializations per process

    NO_WORD = 0                    # guard word of an argument that cannot be specialized
    IS_NONE = 1
    A_VALUE = 2
    A_TENSOR = 1 << 31
    WANTS_GRADIENT = 1 << 30


@cython.final
cdef class Specializations:
    """Specializations of a function.  They are never removed, as frames borrow their codes."""
    cdef readonly str name
    cdef readonly tuple specs      # parameter types, shared by all specializations
    cdef readonly TypeSpec result
    cdef readonly object make      # make(values of the guarded arguments) -> Code, or None for general code
    cdef object make_general       # make_general() -> general code
    cdef int guards
    cdef int32_t at[MAX_GUARDS]   # guarded registers
    cdef int count
    cdef int last                  # index of the specialization that matched last
    cdef uint32_t words[MAX_PLANS][MAX_GUARDS]
    cdef PyObject *codes[MAX_PLANS]  # borrowed from `held`; NULL: general code
    cdef int64_t runs[MAX_PLANS]
    cdef PyObject *general         # general code, borrowed; NULL: not compiled yet
    cdef PyObject *chosen          # code entered last
    cdef readonly int64_t left     # number of calls without a matching specialization
    cdef list held

    # Create the code that `code_for` lacks for these arguments.
    cdef int settle(self, IValue *r) except -1
    cpdef object code_for_all(self)
    cdef PyObject *adopt(self, object code) except NULL


# Return the code for the arguments in the first registers, borrowed; NULL if it is not compiled yet.  `code_for` also counts
# the call, as does `code_of` with `entered`.
cdef PyObject *code_of(Specializations p, const IValue *r, bint entered) noexcept
cdef PyObject *code_for(PyObject *plans, const IValue *r) noexcept
# Set the signature check of new code, check(code, specializations); defined in `code`, which imports this module.
cdef int set_check(object function) except -1
