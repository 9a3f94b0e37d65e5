"""Contiguous copies of arguments for a C kernel. `contiguous_arguments.pxd` describes the contract."""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.limits cimport LONG_MAX
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED, call_python_kernel
from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, flags_of, ndim_of, size_of, strides_of
from ts._core.tensor.overlap cimport has_internal_overlap
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, wrap_cpu
from ts._core.value.container cimport List, list_item, list_new, list_slot
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT, TENSOR_SPEC, list_spec
from ts._core.value.ivalue cimport copy_value, move_value, release, set_object
from ts.backends.cpu.kernels.channels_last cimport is_channels_last
from ts.backends.cpu.kernels.kernel cimport CONTIGUOUS_FLAGS, is_tensor
from ts.backends.cpu.kernels.kernel_registry cimport CONTIGUOUS, register_fallback
from ts.backends.cpu.kernels.tensor_iterator cimport contiguous_copy

cnp.import_array()

cdef enum:
    MAX_REGISTERS = 24  # maximal number of arguments and results of an operator whose arguments may be copied
    # Expanded tensors, whose elements share memory, are copied only if they have at most this many elements.
    MAX_OVERLAPPING_ELEMENTS = 1 << 16


ctypedef enum ArgumentContiguity:
    ALREADY_CONTIGUOUS
    STRIDED  # dimensions in C order, but elements have gaps between them or are repeated (stride 0)
    PERMUTED  # dimensions in another order
    NOT_COPYABLE                       # not a CPU tensor, or too expensive to copy


cdef ArgumentContiguity classify_contiguity(IValue *x) noexcept:
    cdef PyArrayObject *a
    cdef npy_intp last = LONG_MAX
    cdef int d
    if (<Tensor>x.v.o).backend != BACKEND_CPU:
        return NOT_COPYABLE
    a = <PyArrayObject *>(<Tensor>x.v.o).array
    if flags_of(a) & CONTIGUOUS_FLAGS == CONTIGUOUS_FLAGS:
        return ALREADY_CONTIGUOUS
    if has_internal_overlap(a) and size_of(a) > MAX_OVERLAPPING_ELEMENTS:
        return NOT_COPYABLE
    for d in range(ndim_of(a)):  # a stride of 0 is compatible with every order of the dimensions
        if strides_of(a)[d] > last:
            return PERMUTED
        if strides_of(a)[d]:
            last = strides_of(a)[d]
    return STRIDED


cdef ArgumentContiguity worst_contiguity(ArgumentContiguity contiguity, IValue *x) noexcept:
    return max(contiguity, classify_contiguity(x)) if is_tensor(x) else contiguity


# Layout rules whose result is channels-last if one of the arguments is channels-last, and otherwise contiguous.
CHANNELS_RULES = frozenset({"channels", "channels_1d", "all_channels", "any_channels"})


cdef bint has_layout_rule(Operator op, bint has_channels_last):
    """Return whether the strides of the operator's result can depend on the strides of its arguments.

    The strides can depend on them if the operator record has a layout rule other than "contiguous", or no layout rule.
    Rules for channels-last results matter only if `has_channels_last`: an argument is channels-last.
    """
    for rule in op.record.layout:
        if rule != "contiguous" and (has_channels_last or rule not in CHANNELS_RULES):
            return True
    return not op.record.layout


cdef bint is_channels_last_tensor(IValue *x) noexcept:
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU:
        return False
    return is_channels_last(<PyArrayObject *>(<Tensor>x.v.o).array)


cdef Tensor contiguous_tensor(IValue *x):
    cdef Tensor t = <Tensor>x.v.o
    return wrap_cpu(contiguous_copy(<PyArrayObject *>t.array), t.scalar_type)


cdef int set_contiguous(IValue *x, IValue *out) except -1:
    """Store a contiguous copy of `x` in `out`, or `x` itself if it is not a tensor or already contiguous."""
    if is_tensor(x) and classify_contiguity(x) != ALREADY_CONTIGUOUS:
        set_object(out, contiguous_tensor(x))
    else:
        copy_value(out, x)
    return 0


cdef int set_contiguous_list(List xs, IValue *out) except -1:
    cdef List result = list_new(list_spec(TENSOR_SPEC), xs.size)
    cdef Py_ssize_t i
    for i in range(result.capacity):
        if i >= xs.size:
            break
        list_slot(<PyObject *>result, i).tag = TAG_NONE
        set_contiguous(list_slot(<PyObject *>xs, i), list_slot(<PyObject *>result, i))
        result.size = i + 1
    set_object(out, result)
    return 0


cdef List tensor_list(IValue *x):
    """Return the list of tensors in a register, or None for an empty list or another value."""
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is not List:
        return None
    cdef List xs = <List>x.v.o
    cdef IValue first
    if xs.size == 0:
        return None
    first = list_item(<PyObject *>xs, 0)
    return xs if is_tensor(&first) else None


cdef int run_with_contiguous_inputs(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue q[MAX_REGISTERS]
    cdef int32_t index[MAX_REGISTERS]
    cdef ArgumentContiguity contiguity = ALREADY_CONTIGUOUS
    cdef List xs
    cdef Py_ssize_t k
    cdef int i, j, n = op.nargs
    cdef bint has_channels_last = False
    if n + op.nrets > MAX_REGISTERS or op.record.variant:
        return call_python_kernel(op, r, at)
    for i in range(n):
        xs = tensor_list(&r[at[i]])
        if xs is None:
            contiguity = worst_contiguity(contiguity, &r[at[i]])
            has_channels_last = has_channels_last or is_channels_last_tensor(&r[at[i]])
        else:
            for k in range(xs.size):
                contiguity = worst_contiguity(contiguity, list_slot(<PyObject *>xs, k))
                has_channels_last = has_channels_last or is_channels_last_tensor(list_slot(<PyObject *>xs, k))
    if contiguity == ALREADY_CONTIGUOUS or contiguity == NOT_COPYABLE or (contiguity == PERMUTED and has_layout_rule(op, has_channels_last)):
        return call_python_kernel(op, r, at)
    for i in range(n + op.nrets):
        q[i].tag = TAG_NONE
        index[i] = i
    try:
        for i in range(n):
            xs = tensor_list(&r[at[i]])
            if xs is None:
                set_contiguous(&r[at[i]], &q[i])
            else:
                set_contiguous_list(xs, &q[i])
        if op.kernels[BACKEND_CPU](op, q, index) == UNSUPPORTED:
            return call_python_kernel(op, r, at)
        for j in range(n, n + op.nrets):
            for i in range(n):  # If the kernel returned a copied argument (in-place operators), return the caller's tensor instead.
                if q[j].tag == TAG_OBJECT and is_tensor(&q[i]) and q[i].v.o == q[j].v.o:
                    copy_value(&q[j], &r[at[i]])
            move_value(&r[at[j]], &q[j])
    finally:
        for i in range(n):
            release(&q[i])
    return 0


register_fallback(CONTIGUOUS, run_with_contiguous_inputs)
