"""Specializations of a function: code per argument spec, and general code.

A specialization may rely on one guard word per guarded argument:

    tensor    1 | gradient:1 | backend:6 | device number + 1:8 | dimensions:8 | ScalarType:8
    None      IS_NONE
    others    A_VALUE + tag: a number, a bool, or whatever objects there are

Sizes, strides and elements of a tensor are not guarded.  ENTER_PLAN is the only instruction of a function
with
specializations; it continues the frame just pushed in the selected code, so that a call needs only one push.
"""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t

from ts._core.value.ivalue cimport IValue
from ts._core.value.spec cimport TypeSpec

cdef enum:
    MAX_GUARDS = 16               # guarded arguments of a function
    MAX_PLANS = 8                 # per function; other arguments run general code
    MAX_BATCH = 4096           # per process

    NO_WORD = 0                    # of an argument that cannot be specialized
    IS_NONE = 1
    A_VALUE = 2
    A_TENSOR = 1 << 31
    WANTS_GRADIENT = 1 << 30


@cython.final
cdef class Specializations:
    """The plans of a function.  They are never taken back, as frames borrow their codes."""
    cdef readonly str name
    cdef readonly tuple specs      # parameter types, shared by all specializations
    cdef readonly TypeSpec result
    cdef readonly object make      # gives the code for values of the guarded arguments, or None
    cdef object make_general       # gives the code for all
    cdef int guards
    cdef int32_t at[MAX_GUARDS]   # registers
    cdef int count
    cdef int last                  # the one that held last
    cdef uint32_t words[MAX_PLANS][MAX_GUARDS]
    cdef PyObject *codes[MAX_PLANS]  # borrowed from `held`; NULL: that for all, meanwhile or for ever
    cdef int64_t runs[MAX_PLANS]
    cdef PyObject *general         # the code for all, borrowed; NULL: it is not made yet
    cdef PyObject *chosen          # the one that was entered last
    cdef readonly int64_t left     # calls with arguments that there is no plan for
    cdef list held

    # Create the code that `code_for` lacks for these arguments.
    cdef int settle(self, IValue *r) except -1
    cpdef object code_for_all(self)
    cdef PyObject *adopt(self, object code) except NULL


# The code for the arguments in the first registers, borrowed; NULL where it is still to be made.  Counted as a run if it is
# entered now, as `code_for` does.
cdef PyObject *code_of(Specializations p, const IValue *r, bint entered) noexcept
cdef PyObject *code_for(PyObject *plans, const IValue *r) noexcept
# Have plans ask of each code, with themselves, whether it may be entered: `code` knows, which is above.
cdef int set_check(object function) except -1
