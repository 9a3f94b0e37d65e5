"""Conversion of single-element CPU tensors to and from numbers, and copies between tensors of one dtype.

Input: interpreter registers with tensors or numbers. Output: a register with a number or a tensor. For other
arguments, the operator's Python kernel runs. The table shows scripts and the operators that they call:

    float(x[1, 2])    aten::Float.Tensor
    if x.sum() > 0    aten::Bool.Tensor
    x[i, j] = 3       aten::tensor.int, aten::copy_
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.create cimport is_cpu
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts._core.value.ivalue cimport (
    IValue,
    TAG_BOOL,
    TAG_FLOAT,
    TAG_INT,
    TAG_NONE,
    TAG_OBJECT,
    set_bool,
    set_float,
    set_int,
    set_object,
    set_object_steal,
)
from ts._core.tensor.ndarray cimport BOOL, DOUBLE, FLOAT, INT8, INT16, INT32, INT64, UINT8
from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, new_array, size_of
from ts._core.tensor.overlap cimport has_partial_overlap, has_internal_overlap
from ts._core.value.scalar cimport int_from_float
from ts._core.tensor.scalar_types cimport number_of_scalar_type
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, wrap_cpu, wrote

from ts import dtypes

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    int copy_array "PyArray_CopyInto"(PyArrayObject *to, PyArrayObject *source) except -1


# ---------------------------------------------------------------- tensor to number

cdef int read_element(IValue *x, IValue *out) noexcept:
    """Store the element of a CPU tensor with one element in `out`, as an int, float or bool.

    Return 1, or 0 for other tensors.
    """
    cdef Tensor t
    cdef char *data
    cdef int16_t i16
    cdef int32_t i32
    cdef float f32
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is not Tensor:
        return 0
    t = <Tensor>x.v.o
    if t.backend != BACKEND_CPU or size_of(<PyArrayObject *>t.array) != 1:
        return 0
    data = data_of(<PyArrayObject *>t.array)
    out.tag = TAG_INT
    if t.scalar_type == FLOAT:
        memcpy(&f32, data, 4)
        out.v.f = f32
        out.tag = TAG_FLOAT
    elif t.scalar_type == DOUBLE:
        memcpy(&out.v.f, data, 8)
        out.tag = TAG_FLOAT
    elif t.scalar_type == INT64:
        memcpy(&out.v.i, data, 8)
    elif t.scalar_type == INT32:
        memcpy(&i32, data, 4)
        out.v.i = i32
    elif t.scalar_type == INT16:
        memcpy(&i16, data, 2)
        out.v.i = i16
    elif t.scalar_type == INT8:
        out.v.i = (<int8_t *>data)[0]
    elif t.scalar_type == UINT8:
        out.v.i = (<uint8_t *>data)[0]
    elif t.scalar_type == BOOL:
        out.v.i = (<uint8_t *>data)[0] != 0
        out.tag = TAG_BOOL
    else:
        return 0
    return 1


cdef int to_float(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue x
    if not read_element(&r[at[0]], &x):
        return UNSUPPORTED
    set_float(&r[at[1]], x.v.f if x.tag == TAG_FLOAT else <double>x.v.i)
    return 0


cdef int to_int(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue x
    if not read_element(&r[at[0]], &x) or (x.tag == TAG_FLOAT and not -9.2e18 < x.v.f < 9.2e18):
        return UNSUPPORTED
    set_int(&r[at[1]], <int64_t>x.v.f if x.tag == TAG_FLOAT else x.v.i)
    return 0


cdef int to_bool(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue x
    if not read_element(&r[at[0]], &x):
        return UNSUPPORTED
    set_bool(&r[at[1]], x.v.f != 0 if x.tag == TAG_FLOAT else x.v.i != 0)
    return 0


cdef int item(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue x
    if not read_element(&r[at[0]], &x):
        return UNSUPPORTED
    if x.tag == TAG_FLOAT:
        set_float(&r[at[1]], x.v.f)
    elif x.tag == TAG_INT:
        set_int(&r[at[1]], x.v.i)
    else:
        set_bool(&r[at[1]], x.v.i)
    return 0


# ---------------------------------------------------------------- number to tensor

cdef int tensor_of_number(Operator op, IValue *r, const int32_t *at) except -1:
    """Create a 0-dim tensor from a number. Without the argument dtype, the number's type gives the dtype."""
    cdef IValue *x = &r[at[0]]
    cdef IValue *device = &r[at[2]]
    cdef int kind
    cdef object array
    cdef char *data
    cdef double value
    cdef Tensor result
    if x.tag == TAG_OBJECT or x.tag == TAG_NONE or not is_cpu(device):
        return UNSUPPORTED
    if op.nargs == 4 and r[at[3]].v.i:
        return UNSUPPORTED
    if r[at[1]].tag != TAG_NONE:
        kind = <int>r[at[1]].v.i
    elif x.tag == TAG_FLOAT:
        kind = dtypes.get_default_dtype().code
    else:
        kind = INT64 if x.tag == TAG_INT else BOOL
    value = x.v.f if x.tag == TAG_FLOAT else <double>x.v.i
    if not (kind == FLOAT or kind == DOUBLE or (kind == INT64 and x.tag != TAG_FLOAT) or kind == BOOL):
        return UNSUPPORTED
    array = new_array(0, NULL, number_of_scalar_type(kind))
    data = data_of(<PyArrayObject *>array)
    if kind == FLOAT:
        (<float *>data)[0] = <float>value
    elif kind == DOUBLE:
        (<double *>data)[0] = value
    elif kind == INT64:
        (<int64_t *>data)[0] = x.v.i
    else:
        (<uint8_t *>data)[0] = value != 0
    set_object(&r[at[op.nargs]], wrap_cpu(array, kind))
    return 0


cdef int copy_into(Operator op, IValue *r, const int32_t *at) except -1:
    """Copy a tensor to a tensor of equal dtype. The source has the shape of the target, or is 0-dim."""
    cdef PyObject *to = r[at[0]].v.o
    cdef PyObject *source = r[at[1]].v.o
    cdef PyArrayObject *a
    cdef PyArrayObject *b
    cdef object owners
    cdef int i
    if type(<object>to) is not Tensor or type(<object>source) is not Tensor:
        return UNSUPPORTED
    if (<Tensor>to).backend != BACKEND_CPU or (<Tensor>source).backend != BACKEND_CPU:
        return UNSUPPORTED
    if (<Tensor>to).scalar_type != (<Tensor>source).scalar_type:
        return UNSUPPORTED
    a = <PyArrayObject *>(<Tensor>to).array
    b = <PyArrayObject *>(<Tensor>source).array
    if ndim_of(b) != 0 and ndim_of(b) != ndim_of(a):
        return UNSUPPORTED
    for i in range(ndim_of(b)):
        if dims_of(a)[i] != dims_of(b)[i]:
            return UNSUPPORTED
    if not flags_of(a) & cnp.NPY_ARRAY_WRITEABLE or has_internal_overlap(a) or has_partial_overlap(a, b):
        return UNSUPPORTED
    owners = (<object>a, <object>b)  # keeps the arrays alive, because NumPy may release the GIL during the copy
    copy_array(a, b)
    wrote(<Tensor>to)
    Py_INCREF(<object>to)
    set_object_steal(&r[at[op.nargs]], to)
    return 0


register_kernel("to_float", to_float)
register_kernel("to_int", to_int)
register_kernel("to_bool", to_bool)
register_kernel("item", item)
register_kernel("tensor_of_number", tensor_of_number)
register_kernel("copy", copy_into)
