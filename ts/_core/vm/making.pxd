"""Instructions that create containers, check types or print: functions too long for the loop.

`items` is a register list of the code's pool: a count, then register numbers.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t

from ts._core.value.ivalue cimport IValue

# Set `out` to a new container of type `spec`, releasing its old value.
cdef int make_list(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1
cdef int make_tuple(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1
cdef int make_dict(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1
cdef int make_object(PyObject *spec, IValue *out) except -1
# Return whether the value has the type (`isinstance` of scripts); containers store their type.
cdef bint is_instance(IValue *x, PyObject *type) noexcept nogil
# Return whether typed instructions may treat the value as a value of the type.
cdef int is_of_type(IValue *x, PyObject *type) except -1
cdef int print_values(IValue *r, const int32_t *items) except -1
