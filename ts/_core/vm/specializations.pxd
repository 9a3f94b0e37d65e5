"""Specializations of a function by type guards, with a recompilation limit and generic fallback code.

Each guarded argument has a guard word of 32 bits. A specialization is compiled for one combination of guard
words. The fields of a guard word, with their numbers of bits:

    tensor    1 | gradient:1 | backend:6 | device number + 1:8 | dimensions:8 | ScalarType:8
    None      IS_NONE
    other     A_VALUE + tag: a number, a bool, or any other object

Sizes, strides and elements of a tensor are not guarded. The code of a specialized function is a single
instruction, ENTER_SPECIALIZATION. It turns the frame of the call into a frame of the selected code.
"""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t

from ts._core.value.ivalue cimport IValue
from ts._core.value.spec cimport TypeSpec

cdef enum:
    MAX_GUARDS = 16  # maximal number of guarded arguments of a function
    # Maximal number of specializations of a function. After that, calls with other kinds of arguments run general code.
    MAX_SPECIALIZATIONS = 8
    MAX_SPECIALIZATIONS_OF_PROCESS = 4096    # maximal number of specializations of all functions in the process

    UNSUPPORTED_GUARD = 0                    # guard of an argument for which no specialization is compiled
    IS_NONE = 1
    A_VALUE = 2
    A_TENSOR = 1 << 31
    REQUIRES_GRAD = 1 << 30


@cython.final
cdef class Specializations:
    """The specializations of a function. They are never removed, because frames borrow references to their codes."""
    cdef readonly str name
    cdef readonly tuple specs      # types of the parameters, equal for all specializations
    cdef readonly TypeSpec result
    # Function make(values of the guarded arguments). It compiles a new specialization and returns its code.
    # It returns None if general code should run instead.
    cdef readonly object make
    cdef object make_general       # make_general() compiles and returns the code for all arguments
    cdef int guard_count
    cdef int32_t at[MAX_GUARDS]   # numbers of the registers of the guarded arguments
    cdef int count
    cdef int last                  # index of the specialization that was used last
    cdef uint32_t guards[MAX_SPECIALIZATIONS][MAX_GUARDS]
    # Code of each specialization, or NULL if the specialization runs general code. The references are
    # borrowed from `code_references`.
    cdef PyObject *codes[MAX_SPECIALIZATIONS]
    cdef int64_t runs[MAX_SPECIALIZATIONS]
    cdef PyObject *general         # general code (borrowed reference), or NULL if it is not compiled yet
    cdef PyObject *chosen          # the code that the last counted call entered
    cdef readonly int64_t left     # number of calls that ran general code, because no specialization matched
    cdef list code_references

    # Compile the code for the arguments in the first registers. Callers call this function if `code_for`
    # returned NULL.
    cdef int settle(self, IValue *r) except -1
    cpdef object code_for_all(self)
    cdef PyObject *adopt(self, object code) except NULL


# Return a borrowed reference to the code for the arguments in the first registers, or NULL if this code must
# be compiled first. `code_for` always counts the call. `code_of` counts it only if `entered` is true.
cdef PyObject *code_of(Specializations p, const IValue *r, bint entered) noexcept
cdef PyObject *code_for(PyObject *specializations, const IValue *r) noexcept
# Register the function check(code, specializations), which checks the signature of new code.  It is defined in
# `code.pyx`, which this module cannot import, because `code.pyx` imports this module.
cdef int set_check(object function) except -1
