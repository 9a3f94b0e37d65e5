"""Functions for instructions that create containers, check types or print.

The code of these functions is too long for the interpreter loop.

The parameter `items` is a list of registers in the operand pool: its length, followed by the register
numbers.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t

from ts._core.value.ivalue cimport IValue

# Set `out` to a new container or object of type `spec`, and release the old value of `out`.
cdef int make_list(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1
cdef int make_tuple(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1
cdef int make_dict(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1
cdef int make_object(PyObject *spec, IValue *out) except -1
# Return whether a value has a type by the rules of `isinstance` in scripts. For a container, these rules
# compare the type with which the container was created.
cdef bint is_instance(IValue *x, PyObject *type) noexcept nogil
# Return whether typed instructions may treat a value as a value of the type (`type_of.conforms`).
cdef int is_of_type(IValue *x, PyObject *type) except -1
cdef int print_values(IValue *r, const int32_t *items) except -1
