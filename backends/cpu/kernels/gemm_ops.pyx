"""Matrix products (GEMM, GEMV) with a scale and a summand for floating and complex tensors, by `matmul.pyx`.

Input: CPU tensors in interpreter registers. Output: the register of the result. The function `kernel` creates
kernels on arrays, for `out=` and in-place variants.

For unsupported arguments, the operator's Python kernel runs. The operators are:

    mm(x, y)   bmm(x, y)   matmul(x, y)   linear(x, weight, bias)   addmm(bias, x, y)   baddbmm(bias, x, y)
"""

from functools import partial

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int32_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.vectors cimport vector_product
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT, TAG_NONE, copy_value, set_object_steal
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS, is_tensor, item_size, set_result, scalar_type
from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, new_array, size_of
from ts.backends.cpu.kernels.gil cimport ReleasedGil, release_gil_for_arrays, take_gil
from ts.backends.cpu.kernels.matmul cimport cached_panels_for, dtype_index, is_row, matrix_product, multiply_into
from ts._core.tensor.scalar_types cimport scalar_type_of_number
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, wrote
from ts.backends.cpu.kernels.bfloat16_gemm cimport cached_pairs_for, multiply_bfloat16_into
from ts.backends.cpu.kernels.bfloat16_microkernels cimport has_bfloat16_tiles
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.blas_matrix cimport Epilogue
from ts.backends.cpu.kernels.half_skinny_gemm cimport multiply_half_rows
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16, is_half_number, to_float32, to_half_precision
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy

cnp.import_array()

cdef enum:
    IN_PLACE_FLAGS = cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED | cnp.NPY_ARRAY_WRITEABLE


# ---------------------------------------------------------------- products of arrays

cdef object product(object a, object b, object summand, double alpha, double beta):
    return product_with_epilogue(a, b, summand, alpha, beta, None, NULL, NULL)


cdef object product_with_epilogue(
    object a, object b, object summand, double alpha, double beta, Packed packed, Epilogue epilogue, void *context
):
    """Return alpha * a @ b + beta * summand as a new array, or None if the operands are unsupported.

    `a` and `b` are matrices, or stacks of matrices that broadcast. Half-precision operands are multiplied and
    accumulated in float32, without a conversion if the processor has AVX512_BF16 and the dtype is bfloat16.
    """
    cdef PyArrayObject *x = <PyArrayObject *>a
    cdef PyArrayObject *y = <PyArrayObject *>b
    cdef int nd = max(ndim_of(x), ndim_of(y)), type_number = cnp.PyArray_TYPE(<cnp.ndarray>a), i
    cdef npy_intp dims[MAX_DIMS]
    cdef object rows = a, bias = None, result, out
    cdef bint brain = scalar_type_of_number(type_number) == BFLOAT16 and has_bfloat16_tiles() and epilogue == NULL
    if ndim_of(x) < 2 or ndim_of(y) < 2 or size_of(x) == 0 or size_of(y) == 0:
        return None
    if dims_of(x)[ndim_of(x) - 1] != dims_of(y)[ndim_of(y) - 2] or cnp.PyArray_TYPE(<cnp.ndarray>b) != type_number:
        return None
    if dtype_index(a) < 0 and not brain:
        if epilogue != NULL or not is_half_number(type_number) or not has_type_number(summand, type_number):
            return None
        return half_product(a, b, summand, alpha, beta)
    for i in range(nd - 2):
        dims[i] = 1
    dims[nd - 2], dims[nd - 1] = dims_of(x)[ndim_of(x) - 2], dims_of(y)[ndim_of(y) - 1]
    if not broadcast(dims, nd - 2, x) or not broadcast(dims, nd - 2, y):
        return None
    out = result = new_array(nd, dims, type_number)
    if beta == 1 and is_row(summand, dims[nd - 1], type_number):
        beta, bias = 0, summand
    # If beta is 0, `result` stays uninitialized, because the product does not read it.
    if beta != 0 and not copy_summand(<PyArrayObject *>result, <PyArrayObject *>summand):
        return None
    if ndim_of(x) > ndim_of(y) == 2:  # fold the leading dimensions of x into its rows
        if not flags_of(x) & cnp.NPY_ARRAY_C_CONTIGUOUS:
            rows = contiguous_copy(x)
        rows, out = rows.reshape(-1, dims_of(x)[nd - 1]), result.reshape(-1, dims[nd - 1])
    if brain:
        return result if multiply_bfloat16_into(rows, b, out, alpha, beta, bias, packed) else None
    return result if multiply_into(rows, b, out, alpha, beta, bias, packed, epilogue, context) else None


cdef bint broadcast(npy_intp *dims, int nd, PyArrayObject *a) noexcept:
    """Broadcast the first `nd` sizes in `dims` with the batch dimensions of `a`, all but the last two.

    Return False if the sizes do not broadcast. Otherwise, `dims` has the broadcast sizes.
    """
    cdef int d, dim
    cdef npy_intp length
    for d in range(nd):
        dim = d - nd + ndim_of(a) - 2
        length = dims_of(a)[dim] if dim >= 0 else 1
        if length != 1 and dims[d] != 1 and dims[d] != length:
            return False
        if length != 1:
            dims[d] = length
    return True


cdef bint has_type_number(object summand, int type_number) noexcept:
    return summand is None or cnp.PyArray_TYPE(<cnp.ndarray>summand) == type_number


cdef object half_product(object a, object b, object summand, double alpha, double beta):
    """Compute a half-precision product in float32, and round the result to half precision."""
    cdef object wide = None if summand is None else to_float32(<PyArrayObject *>summand)
    cdef object result = None
    if summand is None or (beta == 1 and is_row(wide, dims_of(<PyArrayObject *>b)[ndim_of(<PyArrayObject *>b) - 1], cnp.NPY_FLOAT)):
        result = multiply_half_rows(a, b, alpha, wide)
    if result is None:
        result = product(to_float32(<PyArrayObject *>a), to_float32(<PyArrayObject *>b), wide, alpha, beta)
    return None if result is None else to_half_precision(<PyArrayObject *>result, cnp.PyArray_TYPE(<cnp.ndarray>a))


cdef bint copy_summand(PyArrayObject *result, PyArrayObject *summand) except -1:
    """Broadcast `summand` to the shape of `result` and copy it there.

    Return False if the dtypes or shapes do not match.
    """
    cdef int nd = ndim_of(summand), d
    cdef npy_intp width = size_of(summand) * item_size(summand), row
    cdef int last = ndim_of(result) - 1
    cdef ReleasedGil gil_state
    if cnp.PyArray_TYPE(<cnp.ndarray>summand) != cnp.PyArray_TYPE(<cnp.ndarray>result) or nd > ndim_of(result):
        return False
    for d in range(1, nd + 1):
        if dims_of(summand)[nd - d] != 1 and dims_of(summand)[nd - d] != dims_of(result)[last + 1 - d]:
            return False
    if nd and dims_of(summand)[nd - 1] == dims_of(result)[last] == size_of(summand) and flags_of(summand) & cnp.NPY_ARRAY_C_CONTIGUOUS:
        gil_state = release_gil_for_arrays(size_of(result), result, summand)
        for row in range(size_of(result) // dims_of(result)[last]):
            memcpy(data_of(result) + row * width, data_of(summand), width)
        take_gil(gil_state)
    else:
        cnp.PyArray_CopyInto(<cnp.ndarray>result, <cnp.ndarray>summand)
    return True


cdef object linear_product(object x, object weight, object bias):
    return linear_with_epilogue(x, weight, bias, None, NULL, NULL)


cdef object linear_with_epilogue(object x, object weight, object bias, Packed packed, Epilogue epilogue, void *context):
    """Return the result of `epilogue` for x @ weight.T + bias, or None if the operands are unsupported."""
    cdef PyArrayObject *w = <PyArrayObject *>weight
    cdef PyArrayObject *row = <PyArrayObject *>bias
    if ndim_of(w) != 2:
        return None
    turned = cnp.PyArray_Transpose(<cnp.ndarray>w, NULL)
    if bias is None:
        return product_with_epilogue(x, turned, None, 1, 0, packed, epilogue, context)
    if ndim_of(row) != 1 or dims_of(row)[0] != dims_of(w)[0]:
        return None
    return product_with_epilogue(x, turned, bias, 1, 1, packed, epilogue, context)


cdef bint same_batch(PyArrayObject *x, PyArrayObject *y, int nd) noexcept:
    """Return whether `x` and `y` are both matrices (nd = 2), or stacks of equally many matrices (nd = 3)."""
    return ndim_of(x) == ndim_of(y) == nd and (nd == 2 or dims_of(x)[0] == dims_of(y)[0])


# ---------------------------------------------------------------- kernels on arrays

def _summed(int nd, general, xp, cnp.ndarray self not None, cnp.ndarray a not None, cnp.ndarray b not None, beta=1, alpha=1):
    result = None
    if type(beta) in (int, float) and type(alpha) in (int, float) and same_batch(<PyArrayObject *>a, <PyArrayObject *>b, nd):
        result = product(a, b, self, alpha, beta)
    return general(xp, self, a, b, beta, alpha) if result is None else result


def _stacked(general, xp, cnp.ndarray a not None, cnp.ndarray b not None):
    result = product(a, b, None, 1, 0) if same_batch(<PyArrayObject *>a, <PyArrayObject *>b, 3) else None
    return general(xp, a, b) if result is None else result


def _multiplied(general, xp, cnp.ndarray a not None, cnp.ndarray b not None):
    result = product(a, b, None, 1, 0)
    return general(xp, a, b) if result is None else result


def _linear(general, xp, cnp.ndarray x not None, cnp.ndarray weight not None, cnp.ndarray bias=None):
    result = linear_product(x, weight, bias)
    return general(xp, x, weight, bias) if result is None else result


def _by_record(general, xp, *args):
    """Run the operator's Python kernel. Overloads with a result dtype have no kernel in this module."""
    return general(xp, *args)


_ON_ARRAYS = {
    "aten::addmm.dtype": _by_record,
    "aten::baddbmm.dtype": _by_record,
    "aten::bmm.dtype": _by_record,
    "aten::addmm": partial(_summed, 2),
    "aten::baddbmm": partial(_summed, 3),
    "aten::bmm": _stacked,
    "aten::matmul": _multiplied,
    "aten::linear": _linear,
}


def multiply(cnp.ndarray a not None, cnp.ndarray b not None):
    """Return a @ b for arrays with equal dtypes, or None if the operands are unsupported."""
    return product(a, b, None, 1, 0)


def kernel(record):
    """Return a kernel on arrays for an operator record.

    If the arguments are unsupported, the returned kernel calls the operator's Python kernel.
    """
    return partial(_ON_ARRAYS.get(record.key) or _ON_ARRAYS[record.name], record.kernel)


# ---------------------------------------------------------------- kernels on interpreter registers

cdef PyArrayObject *array_at(IValue *x) noexcept:
    """Return the array of a CPU tensor, or NULL for other values."""
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU:
        return NULL
    return <PyArrayObject *>(<Tensor>x.v.o).array


cdef bint read_scalar(IValue *x, double *out) noexcept:
    if x.tag == TAG_INT:
        out[0] = <double>x.v.i
    elif x.tag == TAG_FLOAT:
        out[0] = x.v.f
    else:
        return False
    return True


cdef int store_product(Operator op, IValue *r, const int32_t *at, object result, int kind) except -1:
    """Store `result`. If it is None, run the operator's Python kernel, which also raises the errors."""
    return UNSUPPORTED if result is None else set_result(&r[at[op.nargs]], result, kind)


cdef Packed cached_operand_for(Tensor x, Tensor y, bint transposed):
    """Return the cached packed columns of `y` for a product with `x`, or None (see `cached_panels_for`)."""
    return cached_pairs_for(x, y, transposed) if y.scalar_type == BFLOAT16 else cached_panels_for(x, y, transposed)


cdef int run_product(Operator op, IValue *r, const int32_t *at, int max_rank) except -1:
    """Compute the product of two tensors with at most `max_rank` dimensions each."""
    cdef PyArrayObject *x = array_at(&r[at[0]])
    cdef PyArrayObject *y = array_at(&r[at[1]])
    if x == NULL or y == NULL or ndim_of(x) > max_rank or ndim_of(y) > max_rank:
        return UNSUPPORTED
    packed = cached_operand_for(<Tensor>r[at[0]].v.o, <Tensor>r[at[1]].v.o, False)
    result = product_with_epilogue(<object>x, <object>y, None, 1, 0, packed, NULL, NULL)
    return store_product(op, r, at, result, scalar_type(&r[at[0]]))


cdef int bmm(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *x = array_at(&r[at[0]])
    cdef PyArrayObject *y = array_at(&r[at[1]])
    if x == NULL or y == NULL or not same_batch(x, y, 3):
        return UNSUPPORTED
    return run_product(op, r, at, 3)


cdef int run_matmul(Operator op, IValue *r, const int32_t *at, int max_rank) except -1:
    cdef PyObject *result = NULL
    if is_tensor(&r[at[0]]) and is_tensor(&r[at[1]]):
        result = matrix_product(<Tensor>r[at[0]].v.o, <Tensor>r[at[1]].v.o, False, None)
        if result == NULL and max_rank > 2:
            result = vector_product(<Tensor>r[at[0]].v.o, <Tensor>r[at[1]].v.o)
    if result == NULL:
        return run_product(op, r, at, max_rank)
    set_object_steal(&r[at[2]], result)
    return 0


cdef int mm(Operator op, IValue *r, const int32_t *at) except -1:
    return run_matmul(op, r, at, 2)


cdef int matmul(Operator op, IValue *r, const int32_t *at) except -1:
    return run_matmul(op, r, at, MAX_DIMS)


cdef int run_addmm(Operator op, IValue *r, const int32_t *at, int nd) except -1:
    cdef PyArrayObject *summand = array_at(&r[at[0]])
    cdef PyArrayObject *x = array_at(&r[at[1]])
    cdef PyArrayObject *y = array_at(&r[at[2]])
    cdef double alpha, beta
    if summand == NULL or x == NULL or y == NULL or not same_batch(x, y, nd):
        return UNSUPPORTED
    if not read_scalar(&r[at[3]], &beta) or not read_scalar(&r[at[4]], &alpha):
        return UNSUPPORTED
    packed = cached_operand_for(<Tensor>r[at[1]].v.o, <Tensor>r[at[2]].v.o, False)
    result = product_with_epilogue(<object>x, <object>y, <object>summand, alpha, beta, packed, NULL, NULL)
    return store_product(op, r, at, result, scalar_type(&r[at[1]]))


cdef int addmm(Operator op, IValue *r, const int32_t *at) except -1:
    return run_addmm(op, r, at, 2)


cdef int baddbmm(Operator op, IValue *r, const int32_t *at) except -1:
    return run_addmm(op, r, at, 3)


cdef int run_addmm_inplace(Operator op, IValue *r, const int32_t *at, int nd) except -1:
    """Compute beta * self + alpha * x @ y as a new array, and copy it to `self`, which x and y may overlap."""
    cdef PyArrayObject *target = array_at(&r[at[0]])
    cdef PyArrayObject *x = array_at(&r[at[1]])
    cdef PyArrayObject *y = array_at(&r[at[2]])
    cdef double alpha, beta
    if target == NULL or x == NULL or y == NULL or not same_batch(x, y, nd) or ndim_of(target) != nd:
        return UNSUPPORTED
    if flags_of(target) & IN_PLACE_FLAGS != IN_PLACE_FLAGS or scalar_type(&r[at[0]]) != scalar_type(&r[at[1]]):
        return UNSUPPORTED
    if dims_of(target)[nd - 2] != dims_of(x)[nd - 2] or dims_of(target)[nd - 1] != dims_of(y)[nd - 1]:
        return UNSUPPORTED
    if (nd == 3 and dims_of(target)[0] != dims_of(x)[0]) or not read_scalar(&r[at[3]], &beta) or not read_scalar(&r[at[4]], &alpha):
        return UNSUPPORTED
    packed = cached_operand_for(<Tensor>r[at[1]].v.o, <Tensor>r[at[2]].v.o, False)
    result = product_with_epilogue(<object>x, <object>y, <object>target, alpha, beta, packed, NULL, NULL)
    if result is None:
        return UNSUPPORTED
    memcpy(data_of(target), data_of(<PyArrayObject *>result), size_of(target) * item_size(target))
    wrote(<Tensor>r[at[0]].v.o)
    copy_value(&r[at[op.nargs]], &r[at[0]])
    return 0


cdef int addmm_inplace(Operator op, IValue *r, const int32_t *at) except -1:
    return run_addmm_inplace(op, r, at, 2)


cdef int baddbmm_inplace(Operator op, IValue *r, const int32_t *at) except -1:
    return run_addmm_inplace(op, r, at, 3)


cdef int linear(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute x @ weight.T + bias for a matrix `x`."""
    cdef IValue *x = &r[at[0]]
    cdef PyArrayObject *bias = array_at(&r[at[2]])
    cdef PyObject *result = NULL
    if is_tensor(x) and is_tensor(&r[at[1]]) and (bias != NULL or r[at[2]].tag == TAG_NONE):
        result = matrix_product(
            <Tensor>x.v.o, <Tensor>r[at[1]].v.o, True, None if bias == NULL else <object>bias
        )
    if result == NULL:
        return linear_of_rows(op, r, at)
    set_object_steal(&r[at[3]], result)
    return 0


cdef int linear_of_rows(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute x @ weight.T + bias for `x` of any number of dimensions."""
    cdef PyArrayObject *x = array_at(&r[at[0]])
    cdef PyArrayObject *weight = array_at(&r[at[1]])
    cdef PyArrayObject *bias = array_at(&r[at[2]])
    if x == NULL or weight == NULL or (bias == NULL and r[at[2]].tag != TAG_NONE):
        return UNSUPPORTED
    row = None if bias == NULL else <object>bias
    packed = cached_operand_for(<Tensor>r[at[0]].v.o, <Tensor>r[at[1]].v.o, True)
    result = linear_with_epilogue(<object>x, <object>weight, row, packed, NULL, NULL)
    return store_product(op, r, at, result, scalar_type(&r[at[0]]))


register_kernel("aten::mm", mm)
register_kernel("aten::matmul", matmul)
register_kernel("aten::linear", linear)
register_kernel("aten::bmm", bmm)
register_kernel("aten::addmm", addmm)
register_kernel("aten::baddbmm", baddbmm)
register_kernel("aten::addmm_", addmm_inplace)
register_kernel("aten::baddbmm_", baddbmm_inplace)
