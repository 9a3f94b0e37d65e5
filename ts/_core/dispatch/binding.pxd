"""Parameters of operators, prepared for arguments from Python.

A `Binder` has an operator and one slot per parameter. For Python kernels, `bind` returns Python values in the
order of the schema. For C kernels, `call_directly` stores the values in registers and runs the kernel.
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
    MAX_ARGUMENTS = 16                # maximal number of arguments of `call_directly`


@cython.final
cdef class Slot:
    """A parameter of an operator, with its kind and default prepared for binding."""
    cdef str name
    cdef Kind kind
    cdef bint optional
    cdef bint keyword_only
    cdef bint has_default
    cdef bint written
    cdef int size                      # for a list of fixed size, such as int[2]: this size, otherwise 0
    cdef object default
    cdef str type_name                 # name of the type in PyTorch's error messages
    cdef TypeSpec spec                 # type of a list parameter
    cdef IValue given_none             # the default value as an IValue


@cython.final
cdef class Binder:
    """An operator with its slots, and the properties that calls from Python need."""
    cdef Operator op
    cdef list slots
    cdef int positional                # maximal number of positional arguments
    # number of the int[] parameter whose ints may also be passed as separate arguments, as in x.view(2, 3),
    # or -1 if there is none
    cdef int int_list_at
    cdef str required  # name of the first keyword-only parameter without a default, or None if there is none
    cdef bint numbers                  # True if Tensor parameters accept Python numbers
    cdef bint gives_dtype              # True if the result is a dtype code, which becomes a dtype object
    cdef bint direct                   # True if the operator has a C kernel
    cdef object results                # named-tuple class of the results, or None for a single result


cdef object FAILED, UNSURE

cdef Binder binder_of(Operator op)
cdef bint is_int(object x)
# Return one value per parameter, or None if the arguments do not match the parameters. In this case, if `why`
# is a list, append PyTorch's description of the mismatch to `why`.
cdef list bind(Binder b, tuple args, dict kwargs, bint numbers, list why)
# Return whether the call lacks a required keyword argument, such as `out`. `names` are the names of its
# keyword arguments.
cdef bint lacks_keyword(Binder b, PyObject *const *args, Py_ssize_t nargs, PyObject *names) noexcept
# Convert a result for Python: lists become tuples, dtype codes become dtype objects.
cdef object as_python(Binder b, object result)
# Call the C kernel and return its result. Return FAILED if the arguments do not match the parameters. Return
# UNSURE if only `bind` can decide whether they match. `args` contains `nargs` positional arguments, then one
# argument for each name in `names`. `names` is NULL if there are no keyword arguments.
cdef object call_directly(Binder b, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
