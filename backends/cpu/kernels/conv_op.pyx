"""Convolution operators on CPU tensors with a plan cache, which call the functions of `conv`.

Input: interpreter registers with images, a weight, a bias or None, and parameters. Output: the register of
the result.

The plan of a convolution is cached for each combination of shapes and parameters. For unsupported arguments,
the operator's Python kernel runs. Example:

    conv2d(x, weight, bias, [2, 2], [1, 1])
"""

import math

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from numpy cimport npy_intp

from ts._core.value.container cimport List, list_item
from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts.backends.cpu.kernels.bfloat16_gemm cimport multiply_bfloat16_into
from ts.backends.cpu.kernels.bfloat16_microkernels cimport has_bfloat16_tiles
from ts.backends.cpu.kernels.conv cimport correlate_fitting
from ts.backends.cpu.kernels.conv_bfloat16 cimport correlate_bfloat16
from ts.backends.cpu.kernels.conv_layout cimport InputLayout
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.matmul cimport dtype_index, is_row, multiply_into
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT, box
from ts._core.value.no_python_construction cimport seal
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, dims_of, flags_of, ndim_of, size_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts.backends.cpu.kernels.kernel cimport is_tensor, new_contiguous, set_result, scalar_type
from ts.backends.cpu.kernels.channels_last cimport is_channels_last, new_channels_last

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    int copy_array "PyArray_CopyInto"(PyArrayObject *to, PyArrayObject *source) except -1

cdef enum:
    MAX_CACHED_CONVS = 1024
    MAX_KEY_NUMBERS = 48               # maximal number of integers in a cache key
    NO_ARGUMENT = -1


# ---------------------------------------------------------------- plans by shapes and parameters

@cython.final
cdef class PreparedConv:
    """Cached plan of a convolution for the given shapes and parameters."""

    cdef InputLayout source
    cdef list phases
    # True if the phases write every element of the output. If it is False, the output is filled with zeros
    # first.
    cdef bint complete
    cdef int64_t groups
    cdef bint transposed
    cdef list weight_layouts           # for each phase, a key of the layout of the packed weight
    # True if the output has one element for each image and filter: the convolution is the matrix product
    # images @ weight.T
    cdef bint is_product
    cdef npy_intp shape[5]             # shape of the output


seal(PreparedConv)


# Dict from the result of `key_of` to a plan. The value is None if only the operator's Python kernel supports
# the arguments.
cdef dict prepared_cache = {}


ctypedef struct ConvArgumentPositions:
    # Argument positions of a convolution operator, or NO_ARGUMENT if the operator lacks the argument.
    int transposed
    int output_padding
    int groups
    int dilation
    bint always_transposed


ctypedef struct Key:
    int64_t numbers[MAX_KEY_NUMBERS]
    int count


cdef inline int add_number(Key *key, int64_t x) noexcept:
    if key.count < MAX_KEY_NUMBERS:
        key.numbers[key.count] = x
    key.count += 1
    return 0


cdef int add_shape(Key *key, PyArrayObject *a) noexcept:
    cdef int d
    add_number(key, ndim_of(a))
    for d in range(ndim_of(a)):
        add_number(key, dims_of(a)[d])
    return 0


cdef bint add_list(Key *key, IValue *x) noexcept:
    cdef List numbers
    cdef Py_ssize_t i
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is not List:
        return False
    numbers = <List>x.v.o
    add_number(key, numbers.size)
    for i in range(numbers.size):
        add_number(key, list_item(<PyObject *>numbers, i).v.i)
    return True


cdef object find_prepared(Operator op, ConvArgumentPositions positions, IValue *r, const int32_t *at, x, weight, bias):
    """Return a cached or new plan for a call, or None if the operator's Python kernel must run."""
    cdef bint transposed = positions.always_transposed or (positions.transposed != NO_ARGUMENT and r[at[positions.transposed]].v.i)
    numbers = key_of(positions, r, at, transposed, x, weight, bias)
    if numbers is None:
        return None
    cached = prepared_cache.get(numbers, prepared_cache)
    if cached is prepared_cache:
        cached = prepare_conv(op, r, at, transposed, [x, weight, bias])
        # `prepare_conv` runs Python code, so another thread may change a list argument meanwhile. `cached` is
        # then the plan of the changed arguments, not of the key `numbers`.
        if key_of(positions, r, at, transposed, x, weight, bias) != numbers:
            return None
        if len(prepared_cache) >= MAX_CACHED_CONVS:
            prepared_cache.clear()
        prepared_cache[numbers] = cached
    return cached


cdef bytes key_of(ConvArgumentPositions positions, IValue *r, const int32_t *at, bint transposed, x, weight, bias):
    """Return the cache key of a call, or None if an argument has an unexpected type."""
    cdef Key key
    key.count = 0
    add_number(&key, transposed)
    add_number(&key, r[at[positions.groups]].v.i)
    add_number(&key, NO_ARGUMENT if bias is None else dims_of(<PyArrayObject *>bias)[0])
    add_shape(&key, <PyArrayObject *>x)
    add_shape(&key, <PyArrayObject *>weight)
    if not add_list(&key, &r[at[3]]) or not add_list(&key, &r[at[4]]) or not add_list(&key, &r[at[positions.dilation]]):
        return None
    if positions.output_padding != NO_ARGUMENT and not add_list(&key, &r[at[positions.output_padding]]):
        return None
    if key.count > MAX_KEY_NUMBERS:
        return None
    return PyBytes_FromStringAndSize(<char *>key.numbers, key.count * sizeof(int64_t))


def geometry(xp, g, input, weight, bias):
    """Return the geometry `g` of a convolution unchanged.

    If this function is the argument `compute` of the operator's Python kernel, the kernel checks its arguments and
    returns the geometry, but computes no convolution.
    """
    return g


cdef object prepare_conv(Operator op, IValue *r, const int32_t *at, bint transposed, list args):
    """Create the plan of a convolution call. Return None for invalid arguments.

    The function runs Python code, so other threads may run and change list arguments.
    """
    from ts.backends.cpu.conv_decomposition import decompose
    cdef PreparedConv result
    cdef int i, d = 2
    for i in range(len(args), op.nargs):
        args.append(box(&r[at[i]]))
    try:
        g = op.record.kernel(None, *args, compute=geometry)
        decomposition = decompose(g, args[0].shape[2:])
    except (RuntimeError, MemoryError, OverflowError, ValueError):
        return None
    result = PreparedConv.__new__(PreparedConv)
    result.source, result.phases, result.complete = decomposition
    result.groups = g.groups
    result.transposed = transposed
    result.is_product = (
        not transposed and g.groups == 1 and args[0].shape[1:] == args[1].shape[1:]
        and math.prod(g.output_size) == 1 and not any(map(any, g.pads))
    )
    sizes = np.array([transposed, g.groups, *args[1].shape], np.int64).tobytes()
    result.weight_layouts = [sizes + phase.tap_layout for phase in result.phases]
    result.shape[0] = args[0].shape[0]
    result.shape[1] = g.filters
    for n in g.output_size:
        result.shape[d] = n
        d += 1
    return result


# ---------------------------------------------------------------- computation

cdef PyArrayObject *operand(IValue *x, int kind) noexcept:
    """Return the array of `x` if it is an aligned, non-empty CPU tensor of dtype `kind`, else NULL."""
    cdef PyArrayObject *a
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU or scalar_type(x) != kind:
        return NULL
    a = <PyArrayObject *>(<Tensor>x.v.o).array
    return a if flags_of(a) & cnp.NPY_ARRAY_ALIGNED and size_of(a) > 0 else NULL


cdef bint uses_channels_last(ConvArgumentPositions positions, PyArrayObject *x, PyArrayObject *weight, npy_intp *shape) noexcept:
    """Return whether the result of the convolution is channels-last.

    The rule for convolutions is the layout rule `any_channels` of the operator record. Transposed convolutions have
    another rule.
    """
    if ndim_of(x) == 4:
        return is_channels_last(x) or is_channels_last(weight)
    if ndim_of(x) == 5:
        return dims_of(x)[0] > 1 and (is_channels_last(x) or is_channels_last(weight))
    if positions.always_transposed:
        return False
    return is_channels_last(x) and is_channels_last(weight) and shape[1] != 1 and shape[2] != 1


cdef bint convolve_as_product(images, filters, bias, out) except -1:
    """Compute a convolution as the product images @ filters.T. Return False for unsupported operands.

    Operands with other strides are copied, so that the result has the same bits for all strides.
    """
    count, number = len(images), len(filters)
    x, y = np.ascontiguousarray(images).reshape(count, -1), np.ascontiguousarray(filters).reshape(number, -1)
    row = None if bias is None else np.ascontiguousarray(bias)
    if row is not None and not is_row(row, number, row.dtype.num):
        return False
    if dtype_index(out) < 0:
        return multiply_bfloat16_into(x, y.T, out.reshape(count, number), 1, 0, row, None)
    return multiply_into(x, y.T, out.reshape(count, number), 1, 0, row, None, NULL, NULL)


cdef int convolve(Operator op, IValue *r, const int32_t *at, ConvArgumentPositions positions) except -1:
    cdef int kind, nd
    cdef PyArrayObject *x
    cdef PyArrayObject *weight
    cdef PyArrayObject *bias = NULL
    cdef PreparedConv prepared_call
    if not is_tensor(&r[at[0]]):
        return UNSUPPORTED
    kind = scalar_type(&r[at[0]])
    x, weight = operand(&r[at[0]], kind), operand(&r[at[1]], kind)
    if (kind != FLOAT and kind != DOUBLE and not (kind == BFLOAT16 and has_bfloat16_tiles())) or x == NULL or weight == NULL:
        return UNSUPPORTED
    # Take strong references, because another thread may replace the tensors' arrays while the convolution reads
    # them.
    images, filters, shift = <object>x, <object>weight, None
    nd = ndim_of(x)
    if not 3 <= nd <= 5 or ndim_of(weight) != nd:
        return UNSUPPORTED
    if r[at[2]].tag != TAG_NONE:
        bias = operand(&r[at[2]], kind)
        if bias == NULL or ndim_of(bias) != 1:
            return UNSUPPORTED
        shift = <object>bias
    cached = find_prepared(op, positions, r, at, images, filters, shift)
    if cached is None:
        return UNSUPPORTED
    prepared_call = <PreparedConv>cached
    out = new_contiguous(nd, prepared_call.shape, kind)
    if not prepared_call.complete:
        out[...] = 0 if shift is None else shift.reshape(-1, *(1,) * (nd - 2))
    placed = new_channels_last(nd, prepared_call.shape, kind) if uses_channels_last(positions, x, weight, prepared_call.shape) else None
    if prepared_call.is_product and convolve_as_product(images, filters, shift, out):
        pass
    elif kind == BFLOAT16:
        if not correlate_bfloat16(
            images, filters, shift, out, prepared_call.source, prepared_call.phases, prepared_call.groups, prepared_call.transposed
        ):
            return UNSUPPORTED
    else:
        correlate_fitting(
            images, filters, shift, out,
            prepared_call.source, prepared_call.phases, prepared_call.groups, prepared_call.transposed,
            <Tensor>r[at[1]].v.o, prepared_call.weight_layouts,
        )
    if placed is not None:
        copy_array(<PyArrayObject *>placed, <PyArrayObject *>out)
        out = placed
    return set_result(&r[at[op.nargs]], out, kind)


cdef ConvArgumentPositions CONV_POSITIONS = ConvArgumentPositions(NO_ARGUMENT, NO_ARGUMENT, 6, 5, False)
cdef ConvArgumentPositions CONV_TRANSPOSE_POSITIONS = ConvArgumentPositions(NO_ARGUMENT, 5, 6, 7, True)
cdef ConvArgumentPositions CONVOLUTION_POSITIONS = ConvArgumentPositions(6, 7, 8, 5, False)


cdef int conv(Operator op, IValue *r, const int32_t *at) except -1:
    return convolve(op, r, at, CONV_POSITIONS)

cdef int conv_transpose(Operator op, IValue *r, const int32_t *at) except -1:
    return convolve(op, r, at, CONV_TRANSPOSE_POSITIONS)

cdef int convolution(Operator op, IValue *r, const int32_t *at) except -1:
    return convolve(op, r, at, CONVOLUTION_POSITIONS)


register_kernel("aten::conv1d", conv)
register_kernel("aten::conv2d", conv)
register_kernel("aten::conv3d", conv)
register_kernel("aten::conv_transpose1d", conv_transpose)
register_kernel("aten::conv_transpose2d.input", conv_transpose)
register_kernel("aten::conv_transpose3d.input", conv_transpose)
register_kernel("aten::convolution", convolution)
register_kernel("aten::_convolution", convolution)
register_kernel("aten::_convolution.deprecated", convolution)
