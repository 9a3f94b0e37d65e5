"""Random sampling from the default generator into new or contiguous CPU tensors.

Input: interpreter registers with sizes, bounds and probabilities. Output: the register of the tensor.

The kernels draw the same numbers in the same order as PyTorch. For other arguments, the operator's Python
kernel runs. Examples:

    rand([2, 3])     randint(10, [4])     x.uniform_(0, 1)
    bernoulli(p), x.bernoulli_(0.3)     dropout(x, 0.5, True)
"""

cimport numpy as cnp
from libc.float cimport FLT_MAX
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, INT64, PyArrayObject, data_of, flags_of, size_of
from ts._core.tensor.tensor cimport Tensor, wrote
from ts._core.value.ivalue cimport IValue, TAG_NONE
from ts.backends.cpu.kernels.create cimport is_plain_cpu, read_dtype, read_sizes
from ts.backends.cpu.kernels.kernel cimport (
    MAX_DIMS, float_array, new_contiguous, new_like, set_result, set_object_result, same_dtype, scalar_type
)
from ts.backends.cpu.kernels.mt19937 cimport MersenneTwister, default_stream
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel

cnp.import_array()

ctypedef fused floating:
    float
    double


# ---------------------------------------------------------------- results of any distribution, uniform numbers

cdef int sample_new(Operator op, IValue *r, const int32_t *at, Fill fill, double first, double second) except -1:
    cdef npy_intp dims[MAX_DIMS]
    cdef int nd, kind = read_dtype(&r[at[1]], -1)
    if (kind != FLOAT and kind != DOUBLE) or not is_plain_cpu(&r[at[2]], &r[at[3]], &r[at[4]]):
        return UNSUPPORTED
    if default_stream() is None or not read_sizes(&r[at[0]], dims, &nd):
        return UNSUPPORTED
    result = new_contiguous(nd, dims, kind)
    fill(<PyArrayObject *>result, kind, first, second)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int sample_like(Operator op, IValue *r, const int32_t *at, Fill fill, double first, double second) except -1:
    cdef PyArrayObject *a = float_array(&r[at[0]])
    cdef IValue *format = &r[at[5]]
    cdef int kind
    if a == NULL or default_stream() is None or not is_plain_cpu(&r[at[2]], &r[at[3]], &r[at[4]]):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    if not same_dtype(&r[at[1]], kind) or (format.tag != TAG_NONE and format.v.i > 1):
        return UNSUPPORTED
    result = new_like(a, kind)
    fill(<PyArrayObject *>result, kind, first, second)
    return set_result(&r[at[op.nargs]], result, kind)


cdef int sample_in_place(
    Operator op, IValue *r, const int32_t *at, IValue *generator, bint supported, Fill fill, double first, double second
) except -1:
    cdef PyArrayObject *a = float_array(&r[at[0]])
    if not supported or a == NULL or generator.tag != TAG_NONE or default_stream() is None:
        return UNSUPPORTED
    if not flags_of(a) & cnp.NPY_ARRAY_WRITEABLE:
        return UNSUPPORTED
    fill(a, scalar_type(&r[at[0]]), first, second)
    wrote(<Tensor>r[at[0]].v.o)
    return set_object_result(&r[at[op.nargs]], <object>r[at[0]].v.o)


cdef void fill_uniform(PyArrayObject *a, int kind, double low, double high) noexcept:
    if kind == FLOAT:
        default_stream().fill_floats(<float *>data_of(a), size_of(a), <float>low, <float>high)
    else:
        default_stream().fill_doubles(<double *>data_of(a), size_of(a), low, high)


cdef int rand(Operator op, IValue *r, const int32_t *at) except -1:
    return sample_new(op, r, at, fill_uniform, 0, 1)

cdef int rand_like(Operator op, IValue *r, const int32_t *at) except -1:
    return sample_like(op, r, at, fill_uniform, 0, 1)

cdef int uniform_(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double low = r[at[1]].v.f, high = r[at[2]].v.f, max_bound = FLT_MAX / 2
    supported = fabs(low) <= max_bound and fabs(high) <= max_bound and low <= high
    return sample_in_place(op, r, at, &r[at[3]], supported, fill_uniform, low, high)


# ---------------------------------------------------------------- integers

cdef int run_randint(Operator op, IValue *r, const int32_t *at, int64_t low, int64_t high, int sizes_at) except -1:
    """Draw integers in [low, high). Each integer consumes one word of the generator."""
    cdef npy_intp dims[MAX_DIMS]
    cdef IValue *dtype = &r[at[sizes_at + 1]]
    cdef int nd
    cdef npy_intp i
    cdef uint32_t span
    cdef int64_t *out
    cdef MersenneTwister stream = default_stream()
    if stream is None or (dtype.tag != TAG_NONE and dtype.v.i != INT64) or not -(1 << 60) < low < high < 1 << 60:
        return UNSUPPORTED
    if high - low >= 1 << 28 or not is_plain_cpu(&r[at[sizes_at + 2]], &r[at[sizes_at + 3]], &r[at[sizes_at + 4]]):
        return UNSUPPORTED
    if not read_sizes(&r[at[sizes_at]], dims, &nd):
        return UNSUPPORTED
    span = <uint32_t>(high - low)
    result = new_contiguous(nd, dims, INT64)
    out = <int64_t *>data_of(<PyArrayObject *>result)
    for i in range(size_of(<PyArrayObject *>result)):
        out[i] = low + stream.word() % span
    return set_result(&r[at[op.nargs]], result, INT64)


cdef int randint(Operator op, IValue *r, const int32_t *at) except -1:
    return run_randint(op, r, at, 0, r[at[0]].v.i, 1)

cdef int randint_low(Operator op, IValue *r, const int32_t *at) except -1:
    return run_randint(op, r, at, r[at[0]].v.i, r[at[1]].v.i, 2)


cdef int randperm(Operator op, IValue *r, const int32_t *at) except -1:
    cdef MersenneTwister stream = default_stream()
    if stream is None or (r[at[1]].tag != TAG_NONE and r[at[1]].v.i != INT64) or not 0 <= r[at[0]].v.i < 1 << 40:
        return UNSUPPORTED
    if not is_plain_cpu(&r[at[2]], &r[at[3]], &r[at[4]]):
        return UNSUPPORTED
    return set_result(&r[at[op.nargs]], stream.permutation(r[at[0]].v.i), INT64)


# ---------------------------------------------------------------- Bernoulli samples

cdef enum:
    UNIFORM_BLOCK = 256                # number of uniform numbers that are drawn at a time


cdef bint are_probabilities(const floating *p, npy_intp n) noexcept:
    cdef npy_intp i
    for i in range(n):
        if not 0 <= p[i] <= 1:
            return False
    return True


cdef void sample_bernoulli(const floating *p, npy_intp n, floating *out) noexcept:
    """Draw Bernoulli samples with one probability per element, by uniform numbers of the dtype of `p`."""
    cdef MersenneTwister stream = default_stream()
    cdef floating uniform[UNIFORM_BLOCK]
    cdef npy_intp i, start, count
    for start in range(0, n, UNIFORM_BLOCK):
        count = min(n - start, <npy_intp>UNIFORM_BLOCK)
        if floating is float:
            stream.fill_floats(uniform, count, 0, 1)
        else:
            stream.fill_doubles(uniform, count, 0, 1)
        for i in range(count):
            out[start + i] = uniform[i] < p[start + i]


cdef void sample_bernoulli_scaled(double p, npy_intp n, floating *out, floating value) noexcept:
    """Draw samples that are `value` with probability `p`, else 0."""
    cdef MersenneTwister stream = default_stream()
    cdef double uniform[UNIFORM_BLOCK]
    cdef npy_intp i, start, count
    for start in range(0, n, UNIFORM_BLOCK):
        count = min(n - start, <npy_intp>UNIFORM_BLOCK)
        stream.fill_doubles(uniform, count, 0, 1)
        for i in range(count):
            out[start + i] = value if uniform[i] < p else 0


cdef int bernoulli(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = float_array(&r[at[0]])
    cdef int kind
    cdef npy_intp n
    cdef void *out
    if a == NULL or r[at[1]].tag != TAG_NONE or default_stream() is None:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    n = size_of(a)
    if not (are_probabilities(<float *>data_of(a), n) if kind == FLOAT else are_probabilities(<double *>data_of(a), n)):
        return UNSUPPORTED
    result = new_like(a, kind)
    out = data_of(<PyArrayObject *>result)
    if kind == FLOAT:
        sample_bernoulli(<float *>data_of(a), n, <float *>out)
    else:
        sample_bernoulli(<double *>data_of(a), n, <double *>out)
    return set_result(&r[at[op.nargs]], result, kind)


cdef void fill_bernoulli(PyArrayObject *a, int kind, double p, double value) noexcept:
    if kind == FLOAT:
        sample_bernoulli_scaled(p, size_of(a), <float *>data_of(a), <float>value)
    else:
        sample_bernoulli_scaled(p, size_of(a), <double *>data_of(a), value)


cdef int bernoulli_p(Operator op, IValue *r, const int32_t *at) except -1:
    cdef PyArrayObject *a = float_array(&r[at[0]])
    if a == NULL or r[at[2]].tag != TAG_NONE or default_stream() is None or not 0 <= r[at[1]].v.f <= 1:
        return UNSUPPORTED
    result = new_like(a, scalar_type(&r[at[0]]))
    fill_bernoulli(<PyArrayObject *>result, scalar_type(&r[at[0]]), r[at[1]].v.f, 1)
    return set_result(&r[at[op.nargs]], result, scalar_type(&r[at[0]]))


cdef int bernoulli_(Operator op, IValue *r, const int32_t *at) except -1:
    cdef double p = r[at[1]].v.f
    return sample_in_place(op, r, at, &r[at[2]], 0 <= p <= 1, fill_bernoulli, p, 1)


# ---------------------------------------------------------------- dropout

cdef int dropout(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute dropout: a tensor times Bernoulli samples / (1 - p).

    In inference, and for p = 0, the result is the tensor itself.
    """
    cdef PyArrayObject *a = float_array(&r[at[0]])
    cdef double p = r[at[1]].v.f, keep = 1 - p
    cdef npy_intp i
    cdef int kind
    cdef PyArrayObject *noise
    if (not r[at[2]].v.i and 0 <= p <= 1) or p == 0:
        return set_object_result(&r[at[op.nargs]], <object>r[at[0]].v.o)
    if a == NULL or not r[at[2]].v.i or not 0 < p < 1 or size_of(a) == 0 or default_stream() is None:
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    result = new_like(a, kind)
    noise = <PyArrayObject *>result
    fill_bernoulli(noise, kind, keep, <float>1 / <float>keep if kind == FLOAT else 1 / keep)
    if kind == FLOAT:
        for i in range(size_of(a)):
            (<float *>data_of(noise))[i] *= (<float *>data_of(a))[i]
    else:
        for i in range(size_of(a)):
            (<double *>data_of(noise))[i] *= (<double *>data_of(a))[i]
    return set_result(&r[at[op.nargs]], result, kind)


register_kernel("aten::rand", rand)
register_kernel("aten::rand_like", rand_like)
register_kernel("aten::uniform_", uniform_)
register_kernel("aten::randint", randint)
register_kernel("aten::randint.low", randint_low)
register_kernel("aten::randperm", randperm)
register_kernel("aten::bernoulli", bernoulli)
register_kernel("aten::bernoulli.p", bernoulli_p)
register_kernel("aten::bernoulli_.float", bernoulli_)
register_kernel("aten::dropout", dropout)
