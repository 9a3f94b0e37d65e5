"""Parameters of operators, prepared for arguments from Python.

    Binder: an operator with its slots, one per parameter

`bind` returns Python values in schema order, for Python kernels; `call_directly` fills registers and runs the C
kernel.
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
    MAX_ARGUMENTS = 16                # limit for `call_directly`


@cython.final
cdef class Slot:
    """Parameter of an operator with its kind and default, preprocessed for binding."""
    cdef str name
    cdef Kind kind
    cdef bint optional
    cdef bint keyword_only
    cdef bint has_default
    cdef bint written
    cdef int size                      # length of a fixed-size list, or 0
    cdef object default
    cdef str words                     # name of the type in PyTorch's error messages
    cdef TypeSpec spec                 # type of a list parameter
    cdef IValue given_none             # the default as a register value


@cython.final
cdef class Binder:
    """Operator with its slots and the facts that calls from Python need."""
    cdef Operator op
    cdef list slots
    cdef int positional                # maximum number of positional arguments
    cdef int int_list_at               # number of the int[] parameter that collects positional integers, or -1
    cdef str required                  # the first keyword-only parameter without a default, or None
    cdef bint numbers                  # accepts numbers for Tensor parameters
    cdef bint gives_dtype              # the result is a dtype code
    cdef bint direct                   # has a C kernel
    cdef object results                # named-tuple class for several results


cdef object FAILED, UNSURE

cdef Binder binder_of(Operator op)
cdef bint is_int(object x)
# Return one value per parameter, or None; append PyTorch's reason to `why` if it is a list.
cdef list bind(Binder b, tuple args, dict kwargs, bint numbers, list why)
# Return whether a call with keyword names `names` lacks a required keyword argument, such as `out`.
cdef bint lacks_keyword(Binder b, PyObject *const *args, Py_ssize_t given, PyObject *names) noexcept
# Convert a result to its Python form: tuples for lists, dtype objects for codes.
cdef object as_python(Binder b, object result)
# Call the C kernel and return its result; FAILED if the arguments do not match, UNSURE if `bind` must decide.
# `args` are `given` positional arguments, then one per name in `names` (NULL: no keyword arguments).
cdef object call_directly(Binder b, PyObject *const *args, Py_ssize_t given, PyObject *names)
