"""Attention of floating CPU tensors, and transformer encoder layers.

In: registers with queries, keys and values, or with a sequence and the weights of a layer.  Out: the register
of the result.

    scaled_dot_product_attention(q, k, v, mask)     softmax(q @ k.mT * scale + mask) @ v, by `heads.pyx`
    _transformer_encoder_layer_fwd(x, ...)          attention and a feed-forward network, with layer norm after or before each

Heads are views of the projections, which the products read without a copy. Other dtypes, dropout, shapes that
do not match and other kinds of masks are left to the record's own kernel, which raises the errors.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, run_record
from ts._core.tensor.ndarray cimport (
    BOOL, DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, flags_of, ndim_of, same_shape, size_of, strides_of,
)
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT, TAG_NONE
from ts.backends.cpu.kernels.addmm cimport linear_with
from ts.backends.cpu.kernels.gil cimport Away, leave_gil_with, take_gil
from ts.backends.cpu.kernels.heads cimport ADDS, HIDES, KEEPS, NOTHING, Masking, attended
from ts.backends.cpu.kernels.in_order cimport run_in_order
from ts.backends.cpu.kernels.kernel cimport flat_array, is_tensor, item_size, put_array, scalar_type
from ts.backends.cpu.kernels.matmul cimport kept_for
from ts.backends.cpu.kernels.norm cimport layer_norm_rows
from ts.backends.cpu.kernels.table cimport register_kernel
from ts.backends.cpu.kernels.vector_math cimport FloatRow, float_row
from ts.backends.cpu.kernels.walk cimport in_order

cdef FloatRow gelu_row = float_row("gelu")

cnp.import_array()


# ---------------------------------------------------------------- heads

cdef object stack_at(IValue *x, int kind):
    """Return the array of an aligned CPU tensor of the dtype with two dimensions or more, else None."""
    cdef Tensor t
    if not is_tensor(x):
        return None
    t = <Tensor>x.v.o
    if t.backend != BACKEND_CPU or t.scalar_type != kind or ndim_of(<PyArrayObject *>t.array) < 2:
        return None
    return t.array if flags_of(<PyArrayObject *>t.array) & cnp.NPY_ARRAY_ALIGNED else None


cdef bint are_heads(PyArrayObject *a, PyArrayObject *query) noexcept:
    """Whether a 4-d array matches the query in batch size, heads and width, with contiguous rows."""
    if ndim_of(a) != 4 or size_of(a) == 0 or strides_of(a)[3] != item_size(a):
        return False
    return dims_of(a)[0] == dims_of(query)[0] and dims_of(a)[1] == dims_of(query)[1] and dims_of(a)[3] == dims_of(query)[3]


cdef object laid_like_query(object made, object query, object key, object value, object mask):
    """Give the result the query's strides in the cases in which PyTorch's fused kernel does (rule `like_query`)."""
    cdef PyArrayObject *q = <PyArrayObject *>query
    if flags_of(q) & cnp.NPY_ARRAY_C_CONTIGUOUS or not are_heads(q, q):
        return made
    if not are_heads(<PyArrayObject *>key, q) or not are_heads(<PyArrayObject *>value, q):
        return made
    if mask is not None and ndim_of(<PyArrayObject *>mask) != 2 and ndim_of(<PyArrayObject *>mask) != 4:
        return made
    laid = np.empty_like(query)
    cnp.PyArray_CopyInto(<cnp.ndarray>laid, <cnp.ndarray>made)
    return laid


cdef int attention(Operator op, IValue *r, const int32_t *at) except -1:
    cdef int kind = scalar_type(&r[at[0]]) if is_tensor(&r[at[0]]) else -1
    cdef IValue *given = &r[at[3]]
    cdef IValue *scale = &r[at[6]]
    cdef Masking masking = NOTHING
    cdef double factor
    cdef bint causal = r[at[5]].v.i
    if (kind != FLOAT and kind != DOUBLE) or r[at[4]].v.f != 0 or r[at[7]].v.i or (causal and given.tag != TAG_NONE):
        return run_record(op, r, at)
    q, k, v = stack_at(&r[at[0]], kind), stack_at(&r[at[1]], kind), stack_at(&r[at[2]], kind)
    if q is None or k is None or v is None or size_of(<PyArrayObject *>q) == 0:
        return run_record(op, r, at)
    mask = None
    if given.tag != TAG_NONE:
        if not is_tensor(given) or (<Tensor>given.v.o).backend != BACKEND_CPU:
            return run_record(op, r, at)
        if scalar_type(given) != BOOL and scalar_type(given) != kind:
            return run_record(op, r, at)
        masking = KEEPS if scalar_type(given) == BOOL else ADDS
        mask = (<Tensor>given.v.o).array
        if not flags_of(<PyArrayObject *>mask) & cnp.NPY_ARRAY_ALIGNED:
            return run_record(op, r, at)
    if scale.tag == TAG_FLOAT:
        factor = scale.v.f
    elif scale.tag == TAG_INT:
        factor = <double>scale.v.i
    else:
        factor = 1 / sqrt(<double>dims_of(<PyArrayObject *>q)[ndim_of(<PyArrayObject *>q) - 1])
    made = attended(q, k, v, mask, masking, causal, factor)
    if made is None:
        return run_record(op, r, at)
    return put_array(&r[at[op.nargs]], laid_like_query(made, q, k, v, mask), kind)


# ---------------------------------------------------------------- encoder layers

cdef void add_rows(float *x, const float *y, npy_intp n) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        x[i] += y[i]


cdef void rectify(
    void *context, bint double_, void *tile, int64_t pitch, int64_t row, int64_t column, int64_t rows, int64_t columns
) noexcept nogil:
    """Apply ReLU to a tile of a float32 product."""
    cdef float *x = <float *>tile
    cdef int64_t r, i
    for r in range(rows):
        for i in range(columns):
            x[i] = 0 if x[i] < 0 else x[i]
        x += pitch


cdef void gelu(
    void *context, bint double_, void *tile, int64_t pitch, int64_t row, int64_t column, int64_t rows, int64_t columns
) noexcept nogil:
    """Apply GELU to a tile of a float32 product."""
    cdef float *x = <float *>tile
    cdef int64_t r
    for r in range(rows):
        gelu_row(x, columns, x)
        x += pitch


cdef object sum_of(object x, object y):
    """Add `y` to `x` in place; both are contiguous float32 arrays of one shape."""
    cdef PyArrayObject *a = <PyArrayObject *>x
    cdef PyArrayObject *b = <PyArrayObject *>y
    cdef Away away = leave_gil_with(size_of(a), a, b)
    add_rows(<float *>data_of(a), <const float *>data_of(b), size_of(a))
    take_gil(away)
    return x


cdef object self_attention(object x, int heads, list weights, list kept, object hidden):
    """Compute the self-attention block of a sequence (N, L, E); None if the shapes do not match."""
    cdef npy_intp n = dims_of(<PyArrayObject *>x)[0], length = dims_of(<PyArrayObject *>x)[1], width
    cdef object qkv = linear_with(x, weights[0], weights[1], kept[0], NULL, NULL)
    if qkv is None or dims_of(<PyArrayObject *>qkv)[2] != 3 * dims_of(<PyArrayObject *>x)[2]:
        return None
    width = dims_of(<PyArrayObject *>x)[2] // heads
    parts = qkv.reshape(n, length, 3, heads, width).transpose(2, 0, 3, 1, 4)
    found = attended(
        parts[0], parts[1], parts[2], hidden, NOTHING if hidden is None else HIDES, False, 1 / sqrt(<double>width)
    )
    if found is None:
        return None
    found = found.transpose(0, 2, 1, 3)
    found = in_order(<PyArrayObject *>found).reshape(n, length, heads * width)
    return linear_with(found, weights[2], weights[3], kept[1], NULL, NULL)


cdef object feed_forward(object x, bint use_gelu, list weights, list kept):
    cdef object inner = linear_with(x, weights[8], weights[9], kept[2], gelu if use_gelu else rectify, NULL)
    return None if inner is None else linear_with(inner, weights[10], weights[11], kept[3], NULL, NULL)


cdef enum:
    FIRST_WEIGHT = 3                   # argument positions: weights and biases of the projections,
    FIRST_NORM = 10                    # then of both layer norms and the feed-forward network
    MASK = 18
    OF_SOURCE = 0                      # mask types
    OF_PADDING = 1
    OF_ALL = 2


cdef object over_scores(object hidden, int64_t kind, npy_intp n, npy_intp heads, npy_intp length):
    """Expand a mask to the scores' shape (N, heads, L, L); None if its shape does not match its type."""
    if kind == OF_SOURCE and hidden.shape == (length, length):
        return hidden[None, None]
    if kind == OF_PADDING and hidden.shape == (n, length):
        return hidden[:, None, None, :]
    return hidden if kind == OF_ALL and hidden.shape == (n, heads, length, length) else None


cdef int encoder_layer(Operator op, IValue *r, const int32_t *at) except -1:
    """Run an encoder layer on a batch, with or without a mask."""
    cdef PyArrayObject *a = flat_array(&r[at[0]])
    cdef PyArrayObject *w
    cdef list weights = [], kept
    cdef npy_intp heads = r[at[2]].v.i, width = r[at[1]].v.i
    cdef bint use_gelu = r[at[7]].v.i, norm_first = r[at[8]].v.i
    cdef double eps = r[at[9]].v.f
    cdef object hidden = None
    cdef int i
    if a == NULL or (r[at[MASK]].tag != TAG_NONE and flat_array(&r[at[MASK]]) == NULL):
        return run_in_order(op, r, at)
    if ndim_of(a) != 3 or scalar_type(&r[at[0]]) != FLOAT or size_of(a) == 0:
        return run_record(op, r, at)
    if dims_of(a)[2] != width or heads <= 0 or width % heads:
        return run_record(op, r, at)
    kept = [  # looked up before references to the arrays are taken
        kept_for(<Tensor>r[at[0]].v.o, <Tensor>r[at[i]].v.o, True) if is_tensor(&r[at[i]]) else None
        for i in (FIRST_WEIGHT, FIRST_WEIGHT + 2, FIRST_NORM + 4, FIRST_NORM + 6)
    ]
    for i in (*range(FIRST_WEIGHT, FIRST_WEIGHT + 4), *range(FIRST_NORM, MASK)):
        w = flat_array(&r[at[i]])
        if w == NULL or scalar_type(&r[at[i]]) != FLOAT:
            return run_record(op, r, at)
        if FIRST_NORM <= i < FIRST_NORM + 4 and (ndim_of(w) != 1 or dims_of(w)[0] != width):
            return run_record(op, r, at)
        weights.append(<object>w)
    if r[at[MASK]].tag != TAG_NONE:
        w = flat_array(&r[at[MASK]])
        if r[at[MASK + 1]].tag != TAG_INT:
            return run_record(op, r, at)
        hidden = <object>w if scalar_type(&r[at[MASK]]) == BOOL else np.not_equal(<object>w, 0)
        hidden = over_scores(hidden, r[at[MASK + 1]].v.i, dims_of(a)[0], heads, dims_of(a)[1])
        if hidden is None:
            return run_record(op, r, at)
    made = encoded(<object>a, <int>heads, weights, kept, hidden, use_gelu, norm_first, eps)
    return run_record(op, r, at) if made is None else put_array(&r[at[op.nargs]], made, FLOAT)


cdef object encoded(object x, int heads, list weights, list kept, object hidden, bint use_gelu, bint norm_first, double eps):
    """Return the output of an encoder layer, or None if the shapes of its weights do not match."""
    cdef object part = self_attention(layer_norm_rows(x, weights[4], weights[5], eps) if norm_first else x, heads, weights, kept, hidden)
    if part is None or not same_shape(<PyArrayObject *>part, <PyArrayObject *>x):
        return None
    x = sum_of(part, x)
    if not norm_first:
        x = layer_norm_rows(x, weights[4], weights[5], eps)
    part = feed_forward(layer_norm_rows(x, weights[6], weights[7], eps) if norm_first else x, use_gelu, weights, kept)
    if part is None or not same_shape(<PyArrayObject *>part, <PyArrayObject *>x):
        return None
    x = sum_of(part, x)
    return x if norm_first else layer_norm_rows(x, weights[6], weights[7], eps)


register_kernel("aten::scaled_dot_product_attention", attention)
register_kernel("aten::_transformer_encoder_layer_fwd", encoder_layer)
