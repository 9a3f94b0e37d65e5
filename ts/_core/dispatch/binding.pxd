"""Parameters of operators, prepared for arguments from Python.

    Binder: an operator with its slots, one per parameter

`bind` gives Python values in the order of the schema, for kernels in Python; `call_directly` fills registers and
runs the kernel in C.
"""

cimport cython
from cpython.object cimport PyObject

from ts._core.dispatch.operator cimport Kernel, Operator
from ts._core.value.ivalue cimport IValue, TypeSpec


cdef enum Kind:
    TENSOR
    SCALAR
    INT
    FLOAT
    BOOL
    STR
    INT_LIST
    FLOAT_LIST
    BOOL_LIST
    SCALAR_LIST
    TENSOR_LIST
    OPTIONAL_TENSOR_LIST
    DTYPE
    LAYOUT
    MEMORY_FORMAT
    DEVICE
    GENERATOR
    STORAGE
    OTHER


cdef enum:
    MAX_ARGUMENTS = 16                # of an operator that is called directly


@cython.final
cdef class Slot:
    """A parameter, prepared for binding."""
    cdef str name
    cdef Kind kind
    cdef bint optional
    cdef bint keyword_only
    cdef bint has_default
    cdef bint written
    cdef int size                      # of a fixed-size list, or 0
    cdef object default
    cdef str words
    cdef TypeSpec spec                 # of a list
    cdef IValue given_none             # the default as a kernel in C takes it


@cython.final
cdef class Binder:
    """An operator with its slots."""
    cdef Operator op
    cdef list slots
    cdef int positional                # how many may be given by position
    cdef int int_list_at               # the int[] that integers in a row make up, or -1
    cdef str required                  # the first keyword-only parameter without a default, or None
    cdef bint numbers                  # takes numbers for tensors
    cdef bint gives_dtype              # the result is the number of a dtype
    cdef bint direct                   # has a kernel in C
    cdef object results                # the class of several results


cdef object FAILED, UNSURE

cdef Binder binder_of(Operator op)
cdef bint is_int(object x)
# Return one value per parameter, or None; append PyTorch's reason to `why` if it is a list.
cdef list bind(Binder b, tuple args, dict kwargs, bint numbers, list why)
# Whether a call with these keyword names lacks a required keyword argument, such as `out`.
cdef bint lacks_keyword(Binder b, PyObject *const *args, Py_ssize_t given, PyObject *names) noexcept
# Convert a result to its Python form: tuples for lists, dtype objects for codes.
cdef object as_python(Binder b, object result)
# The result; FAILED where the arguments do not fit, UNSURE where only `bind` can tell.  Names are of those that
# follow the `given` ones; NULL: there are none.
cdef object call_directly(Binder b, PyObject *const *args, Py_ssize_t given, PyObject *names)
