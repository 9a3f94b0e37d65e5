"""Instructions that make containers or ask about objects: too long for branches of the loop.

`items` is a record of the code's pool: a count, and as many numbers of registers.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t

from ts._core.value.ivalue cimport IValue

# out := a new container of the type `spec`, releasing what `out` held.
cdef int make_list(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1
cdef int make_tuple(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1
cdef int make_dict(PyObject *spec, IValue *r, const int32_t *items, IValue *out) except -1
cdef int make_object(PyObject *spec, IValue *out) except -1
# Is the value of the type?  Containers know theirs.
cdef bint is_instance(IValue *x, PyObject *type) noexcept nogil
# May typed instructions take the value for one of the type?
cdef int is_of_type(IValue *x, PyObject *type) except -1
cdef int print_values(IValue *r, const int32_t *items) except -1
