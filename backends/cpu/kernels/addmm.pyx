"""Products of matrices with a summand, and of stacks of matrices: from registers to `matmul.multiplied`.

In: registers with float tensors on the CPU whose shapes fit.  Out: the register of the result.

    bmm(x, y)      addmm(bias, x, y), with numbers as its factors

Everything else is left to the record's own kernel, which says what does not fit.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport int32_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, run_record
from ts.backends.cpu.kernels.table cimport register_kernel
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT, TAG_NONE, set_object_steal
from ts.backends.cpu.kernels.kernel cimport flat_array, is_tensor, new_flat, put_array, scalar_type
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts.backends.cpu.kernels.elementwise cimport Loops, binary_inplace
from ts.backends.cpu.kernels.matmul cimport matrix_product, multiplied
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor

from ts.backends.cpu.kernels.elementwise import ufunc_loops

cnp.import_array()


cdef PyArrayObject *stack_of(IValue *x, int nd, int kind) noexcept:
    """The array of a CPU tensor of so many dimensions and this dtype, or NULL."""
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU or scalar_type(x) != kind:
        return NULL
    cdef PyArrayObject *a = <PyArrayObject *>(<Tensor>x.v.o).array
    return a if ndim_of(a) == nd and size_of(a) > 0 else NULL


cdef bint read_factor(IValue *x, double *out) noexcept:
    if x.tag == TAG_INT:
        out[0] = <double>x.v.i
    elif x.tag == TAG_FLOAT:
        out[0] = x.v.f
    else:
        return False
    return True


cdef int bmm(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x
    cdef PyArrayObject *y
    cdef npy_intp dims[3]
    cdef int kind
    if not is_tensor(&r[at[0]]):
        return run_record(op, r, at)
    kind = scalar_type(&r[at[0]])
    x, y = stack_of(&r[at[0]], 3, kind), stack_of(&r[at[1]], 3, kind)
    if (kind != FLOAT and kind != DOUBLE) or x == NULL or y == NULL:
        return run_record(op, r, at)
    if dims_of(x)[0] != dims_of(y)[0] or dims_of(x)[2] != dims_of(y)[1]:
        return run_record(op, r, at)
    dims[0], dims[1], dims[2] = dims_of(x)[0], dims_of(x)[1], dims_of(y)[2]
    made = new_flat(3, dims, kind)
    if not multiplied(<object>x, <object>y, made, 1, 0):
        return run_record(op, r, at)
    return put_array(&r[at[op.nargs]], made, kind)


cdef int addmm(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *summand = flat_array(&r[at[0]])
    cdef PyArrayObject *x
    cdef PyArrayObject *y
    cdef npy_intp dims[2]
    cdef npy_intp row
    cdef char *out
    cdef double alpha, beta
    cdef int kind
    cdef npy_intp i
    if summand == NULL or not read_factor(&r[at[3]], &beta) or not read_factor(&r[at[4]], &alpha):
        return run_record(op, r, at)
    kind = scalar_type(&r[at[0]])
    x, y = stack_of(&r[at[1]], 2, kind), stack_of(&r[at[2]], 2, kind)
    if (kind != FLOAT and kind != DOUBLE) or x == NULL or y == NULL or dims_of(x)[1] != dims_of(y)[0]:
        return run_record(op, r, at)
    dims[0], dims[1] = dims_of(x)[0], dims_of(y)[1]
    if not 1 <= ndim_of(summand) <= 2 or dims_of(summand)[ndim_of(summand) - 1] != dims[1]:
        return run_record(op, r, at)
    if ndim_of(summand) == 2 and dims_of(summand)[0] != dims[0]:
        return run_record(op, r, at)
    made = new_flat(2, dims, kind)
    out = data_of(<PyArrayObject *>made)
    row = dims[1] * (4 if kind == FLOAT else 8)
    if beta == 0:
        pass  # what is in `made` is not looked at
    elif ndim_of(summand) == 2:
        memcpy(out, data_of(summand), row * dims[0])
    else:
        for i in range(dims[0]):
            memcpy(out + i * row, data_of(summand), row)
    if not multiplied(<object>x, <object>y, made, alpha, beta):
        return run_record(op, r, at)
    return put_array(&r[at[op.nargs]], made, kind)


cdef int mm(Operator op, IValue *r, const int32_t *at) except -1:
    """Products of two matrices; those of stacks are `bmm`'s, which leaves what it cannot do to the record."""
    cdef PyObject *result = NULL
    if is_tensor(&r[at[0]]) and is_tensor(&r[at[1]]):
        result = matrix_product(<Tensor>r[at[0]].v.o, <Tensor>r[at[1]].v.o, False)
    if result == NULL:
        return bmm(op, r, at)
    set_object_steal(&r[at[2]], result)
    return 0


cdef Loops _add = ufunc_loops("add")


cdef int linear(Operator op, IValue *r, const int32_t *at) except -1:
    """x @ weight.T + bias for a matrix x: two loops, the second on the first's result."""
    cdef IValue *x = &r[at[0]]
    cdef IValue *bias = &r[at[2]]
    cdef PyObject *result = NULL
    cdef PyObject *summed = NULL
    if is_tensor(x) and is_tensor(&r[at[1]]):
        if bias.tag == TAG_NONE or (is_tensor(bias) and scalar_type(bias) == scalar_type(x)):
            result = matrix_product(<Tensor>x.v.o, <Tensor>r[at[1]].v.o, True)
    if result == NULL:
        return run_record(op, r, at)
    if bias.tag != TAG_NONE:
        try:
            summed = binary_inplace(_add, <Tensor>result, bias)
        finally:
            if summed == NULL:
                Py_DECREF(<object>result)
        if summed == NULL:
            return run_record(op, r, at)
        Py_DECREF(<object>summed)  # the same tensor, counted twice
    set_object_steal(&r[at[3]], result)
    return 0


register_kernel("product", mm)
register_kernel("linear", linear)
register_kernel("aten::bmm", bmm)
register_kernel("aten::addmm", addmm)
