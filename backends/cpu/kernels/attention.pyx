"""Attention of floating CPU tensors, and transformer encoder layers.

Input: interpreter registers with queries, keys and values, or with a sequence and a layer's weights. Output:
the register of the result. For unsupported arguments, the operator's Python kernel runs. The table shows the
computation of each operator:

    scaled_dot_product_attention(q, k, v, mask)     softmax(q @ k.mT * scale + mask) @ v
    _transformer_encoder_layer_fwd(x, ...)          attention and a feed-forward network, each with layer norm
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport (
    BOOL, DOUBLE, FLOAT, PyArrayObject, data_of, dims_of, flags_of, ndim_of, same_shape, size_of, strides_of,
)
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT, TAG_NONE
from ts.backends.cpu.kernels.bfloat16_microkernels cimport has_bfloat16_tiles
from ts.backends.cpu.kernels.gemm_ops cimport linear_with_epilogue
from ts.backends.cpu.kernels.gil cimport ReleasedGil, release_gil_for_arrays, take_gil
from ts.backends.cpu.kernels.flash_attention cimport ADDITIVE_MASK, BOOL_HIDE_MASK, BOOL_KEEP_MASK, NO_MASK, Masking, compute_attention
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, is_tensor, item_size, set_result, scalar_type
from ts.backends.cpu.kernels.matmul cimport cached_panels_for
from ts.backends.cpu.kernels.norm cimport layer_norm_rows
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_kernel
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16, to_float32
from ts.backends.cpu.kernels.vector_math cimport FloatRow, float_row
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy

cdef FloatRow gelu_row = float_row("gelu")

cnp.import_array()


# ---------------------------------------------------------------- attention over heads

cdef object read_operand(IValue *x, int kind):
    """Return the array of `x` if it is an aligned CPU tensor of dtype `kind` with at least two dimensions,
    else None.
    """
    cdef Tensor t
    if not is_tensor(x):
        return None
    t = <Tensor>x.v.o
    if t.backend != BACKEND_CPU or t.scalar_type != kind or ndim_of(<PyArrayObject *>t.array) < 2:
        return None
    return t.array if flags_of(<PyArrayObject *>t.array) & cnp.NPY_ARRAY_ALIGNED else None


cdef bint are_heads(PyArrayObject *a, PyArrayObject *query) noexcept:
    """Return whether `a` is a 4-d array with contiguous rows and the batch size, heads and head width of
    `query`.
    """
    if ndim_of(a) != 4 or size_of(a) == 0 or strides_of(a)[3] != item_size(a):
        return False
    return dims_of(a)[0] == dims_of(query)[0] and dims_of(a)[1] == dims_of(query)[1] and dims_of(a)[3] == dims_of(query)[3]


cdef object with_query_strides(object result, object query, object key, object value, object mask):
    """Return `result`, or a copy of it with the query's strides if PyTorch's result has these strides.

    The condition is the layout rule `like_query`.
    """
    cdef PyArrayObject *q = <PyArrayObject *>query
    if flags_of(q) & cnp.NPY_ARRAY_C_CONTIGUOUS or not are_heads(q, q):
        return result
    if not are_heads(<PyArrayObject *>key, q) or not are_heads(<PyArrayObject *>value, q):
        return result
    if mask is not None and ndim_of(<PyArrayObject *>mask) != 2 and ndim_of(<PyArrayObject *>mask) != 4:
        return result
    laid = np.empty_like(query)
    cnp.PyArray_CopyInto(<cnp.ndarray>laid, <cnp.ndarray>result)
    return laid


cdef int attention(Operator op, IValue *r, const int32_t *at) except -1:
    cdef int kind = scalar_type(&r[at[0]]) if is_tensor(&r[at[0]]) else -1
    cdef IValue *mask_register = &r[at[3]]
    cdef IValue *scale = &r[at[6]]
    cdef Masking masking = NO_MASK
    cdef double factor
    cdef bint causal = r[at[5]].v.i
    if (kind != FLOAT and kind != DOUBLE and not (kind == BFLOAT16 and has_bfloat16_tiles())) or r[at[4]].v.f != 0 or r[at[7]].v.i or (causal and mask_register.tag != TAG_NONE):
        return UNSUPPORTED
    q, k, v = read_operand(&r[at[0]], kind), read_operand(&r[at[1]], kind), read_operand(&r[at[2]], kind)
    if q is None or k is None or v is None or size_of(<PyArrayObject *>q) == 0:
        return UNSUPPORTED
    mask = None
    if mask_register.tag != TAG_NONE:
        if not is_tensor(mask_register) or (<Tensor>mask_register.v.o).backend != BACKEND_CPU:
            return UNSUPPORTED
        if scalar_type(mask_register) != BOOL and scalar_type(mask_register) != kind:
            return UNSUPPORTED
        masking = BOOL_KEEP_MASK if scalar_type(mask_register) == BOOL else ADDITIVE_MASK
        mask = (<Tensor>mask_register.v.o).array
        if not flags_of(<PyArrayObject *>mask) & cnp.NPY_ARRAY_ALIGNED:
            return UNSUPPORTED
        if scalar_type(mask_register) == BFLOAT16:
            mask = to_float32(<PyArrayObject *>mask)
    if scale.tag == TAG_FLOAT:
        factor = scale.v.f
    elif scale.tag == TAG_INT:
        factor = <double>scale.v.i
    else:
        factor = 1 / sqrt(<double>dims_of(<PyArrayObject *>q)[ndim_of(<PyArrayObject *>q) - 1])
    result = compute_attention(q, k, v, mask, masking, causal, factor)
    if result is None:
        return UNSUPPORTED
    return set_result(&r[at[op.nargs]], with_query_strides(result, q, k, v, mask), kind)


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


cdef object add_in_place(object x, object y):
    """Add `y` to `x` in place. Both are contiguous float32 arrays of one shape."""
    cdef PyArrayObject *a = <PyArrayObject *>x
    cdef PyArrayObject *b = <PyArrayObject *>y
    cdef ReleasedGil gil_state = release_gil_for_arrays(size_of(a), a, b)
    add_rows(<float *>data_of(a), <const float *>data_of(b), size_of(a))
    take_gil(gil_state)
    return x


cdef object self_attention(object x, int heads, list weights, list panels, object mask):
    """Compute the self-attention block for a sequence `x` of shape (N, L, E).

    Return None if the weights' shapes do not match.
    """
    cdef npy_intp n = dims_of(<PyArrayObject *>x)[0], length = dims_of(<PyArrayObject *>x)[1], width
    cdef object qkv = linear_with_epilogue(x, weights[0], weights[1], panels[0], NULL, NULL)
    if qkv is None or dims_of(<PyArrayObject *>qkv)[2] != 3 * dims_of(<PyArrayObject *>x)[2]:
        return None
    width = dims_of(<PyArrayObject *>x)[2] // heads
    heads_qkv = qkv.reshape(n, length, 3, heads, width).transpose(2, 0, 3, 1, 4)
    heads_output = compute_attention(
        heads_qkv[0], heads_qkv[1], heads_qkv[2], mask, NO_MASK if mask is None else BOOL_HIDE_MASK, False, 1 / sqrt(<double>width)
    )
    if heads_output is None:
        return None
    heads_output = heads_output.transpose(0, 2, 1, 3)
    heads_output = contiguous_copy(<PyArrayObject *>heads_output).reshape(n, length, heads * width)
    return linear_with_epilogue(heads_output, weights[2], weights[3], panels[1], NULL, NULL)


cdef object feed_forward(object x, bint use_gelu, list weights, list panels):
    cdef object inner = linear_with_epilogue(x, weights[8], weights[9], panels[2], gelu if use_gelu else rectify, NULL)
    return None if inner is None else linear_with_epilogue(inner, weights[10], weights[11], panels[3], NULL, NULL)


cdef enum:
    FIRST_WEIGHT = 3                   # argument position of the first weight of the projections
    FIRST_NORM = 10                    # argument position of the first weight of the layer norms
    MASK_ARGUMENT = 18
    SOURCE_MASK = 0                    # `mask_type` of an (L, L) mask (a padding mask has shape (N, L))
    PADDING_MASK = 1
    FULL_MASK = 2


cdef object expand_mask(object hidden, int64_t kind, npy_intp n, npy_intp heads, npy_intp length):
    """Expand a mask to the scores' shape (N, heads, L, L).

    Return None if the mask's shape does not match its type.
    """
    if kind == SOURCE_MASK and hidden.shape == (length, length):
        return hidden[None, None]
    if kind == PADDING_MASK and hidden.shape == (n, length):
        return hidden[:, None, None, :]
    return hidden if kind == FULL_MASK and hidden.shape == (n, heads, length, length) else None


cdef int encoder_layer(Operator op, IValue *r, const int32_t *at) except -1:
    """Run a transformer encoder layer on a batch. The mask may be None."""
    cdef PyArrayObject *a = contiguous_array_or_null(&r[at[0]])
    cdef PyArrayObject *w
    cdef list weights = [], panels
    cdef npy_intp heads = r[at[2]].v.i, width = r[at[1]].v.i
    cdef bint use_gelu = r[at[7]].v.i, norm_first = r[at[8]].v.i
    cdef double eps = r[at[9]].v.f
    cdef object hidden = None
    cdef int i
    if a == NULL or (r[at[MASK_ARGUMENT]].tag != TAG_NONE and contiguous_array_or_null(&r[at[MASK_ARGUMENT]]) == NULL):
        return UNSUPPORTED
    if ndim_of(a) != 3 or scalar_type(&r[at[0]]) != FLOAT or size_of(a) == 0:
        return UNSUPPORTED
    if dims_of(a)[2] != width or heads <= 0 or width % heads:
        return UNSUPPORTED
    # Look up the packed weights (panels) before the loop below adds references to the arrays of the weights.
    # The cache returns panels only for arrays to which nothing but the tensors has references.
    panels = [
        cached_panels_for(<Tensor>r[at[0]].v.o, <Tensor>r[at[i]].v.o, True) if is_tensor(&r[at[i]]) else None
        for i in (FIRST_WEIGHT, FIRST_WEIGHT + 2, FIRST_NORM + 4, FIRST_NORM + 6)
    ]
    for i in (*range(FIRST_WEIGHT, FIRST_WEIGHT + 4), *range(FIRST_NORM, MASK_ARGUMENT)):
        w = contiguous_array_or_null(&r[at[i]])
        if w == NULL or scalar_type(&r[at[i]]) != FLOAT:
            return UNSUPPORTED
        if FIRST_NORM <= i < FIRST_NORM + 4 and (ndim_of(w) != 1 or dims_of(w)[0] != width):
            return UNSUPPORTED
        weights.append(<object>w)
    if r[at[MASK_ARGUMENT]].tag != TAG_NONE:
        w = contiguous_array_or_null(&r[at[MASK_ARGUMENT]])
        if r[at[MASK_ARGUMENT + 1]].tag != TAG_INT:
            return UNSUPPORTED
        hidden = <object>w if scalar_type(&r[at[MASK_ARGUMENT]]) == BOOL else np.not_equal(<object>w, 0)
        hidden = expand_mask(hidden, r[at[MASK_ARGUMENT + 1]].v.i, dims_of(a)[0], heads, dims_of(a)[1])
        if hidden is None:
            return UNSUPPORTED
    result = run_encoder_layer(<object>a, <int>heads, weights, panels, hidden, use_gelu, norm_first, eps)
    return UNSUPPORTED if result is None else set_result(&r[at[op.nargs]], result, FLOAT)


cdef object run_encoder_layer(object x, int heads, list weights, list panels, object hidden, bint use_gelu, bint norm_first, double eps):
    """Compute a transformer encoder layer. Return None if the shapes of its weights do not match `x`."""
    cdef object block_output = self_attention(layer_norm_rows(x, weights[4], weights[5], eps) if norm_first else x, heads, weights, panels, hidden)
    if block_output is None or not same_shape(<PyArrayObject *>block_output, <PyArrayObject *>x):
        return None
    x = add_in_place(block_output, x)
    if not norm_first:
        x = layer_norm_rows(x, weights[4], weights[5], eps)
    block_output = feed_forward(layer_norm_rows(x, weights[6], weights[7], eps) if norm_first else x, use_gelu, weights, panels)
    if block_output is None or not same_shape(<PyArrayObject *>block_output, <PyArrayObject *>x):
        return None
    x = add_in_place(block_output, x)
    return x if norm_first else layer_norm_rows(x, weights[6], weights[7], eps)


register_kernel("aten::scaled_dot_product_attention", attention)
register_kernel("aten::_transformer_encoder_layer_fwd", encoder_layer, CONTIGUOUS)
