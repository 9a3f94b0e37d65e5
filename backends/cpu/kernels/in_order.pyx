"""Contiguous copies of arguments for a C kernel; see the `.pxd` for the contract."""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.limits cimport LONG_MAX
from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, run_record
from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, flags_of, ndim_of, size_of, strides_of
from ts._core.tensor.overlap cimport repeats
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, wrap_cpu
from ts._core.value.container cimport List, list_item, list_new, list_place
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT, TENSOR_SPEC, list_spec
from ts._core.value.ivalue cimport copy_value, move_value, release, set_object
from ts.backends.cpu.kernels.kernel cimport FLAT, is_tensor
from ts.backends.cpu.kernels.walk cimport in_order

cnp.import_array()

cdef enum:
    MOST_REGISTERS = 24                # of the operators that use this fallback
    MOST_REPEATED = 1 << 16            # elements to copy if several of them share memory (expanded tensors)


ctypedef enum Lies:
    IN_ORDER
    WITH_GAPS                          # gaps or repeated elements, with dimensions in C order
    OTHERWISE
    ELSEWHERE                          # not a CPU tensor, or too expensive to copy


cdef Lies how(IValue *x) noexcept:
    cdef PyArrayObject *a
    cdef npy_intp last = LONG_MAX
    cdef int d
    if (<Tensor>x.v.o).backend != BACKEND_CPU:
        return ELSEWHERE
    a = <PyArrayObject *>(<Tensor>x.v.o).array
    if flags_of(a) & FLAT == FLAT:
        return IN_ORDER
    if repeats(a) and size_of(a) > MOST_REPEATED:
        return ELSEWHERE
    for d in range(ndim_of(a)):  # a stride of 0 does not affect the order
        if strides_of(a)[d] > last:
            return OTHERWISE
        if strides_of(a)[d]:
            last = strides_of(a)[d]
    return WITH_GAPS


cdef Lies worst(Lies found, IValue *x) noexcept:
    return max(found, how(x)) if is_tensor(x) else found


cdef bint order_matters(Operator op):
    """Whether the record allows result strides that depend on the arguments' strides."""
    for rule in op.record.layout:
        if rule != "contiguous":
            return True
    return not op.record.layout


cdef Tensor copied(IValue *x):
    cdef Tensor t = <Tensor>x.v.o
    return wrap_cpu(in_order(<PyArrayObject *>t.array), t.scalar_type)


cdef int put_in_order(IValue *x, IValue *out) except -1:
    """Store a contiguous copy of `x` in `out`, or `x` itself if it is not a tensor or already contiguous."""
    if is_tensor(x) and how(x) != IN_ORDER:
        set_object(out, copied(x))
    else:
        copy_value(out, x)
    return 0


cdef int put_list_in_order(List xs, IValue *out) except -1:
    cdef List made = list_new(list_spec(TENSOR_SPEC), xs.size)
    cdef Py_ssize_t i
    for i in range(made.capacity):
        if i >= xs.size:
            break
        list_place(<PyObject *>made, i).tag = TAG_NONE
        put_in_order(list_place(<PyObject *>xs, i), list_place(<PyObject *>made, i))
        made.size = i + 1
    set_object(out, made)
    return 0


cdef List tensors_in(IValue *x):
    """Return the list of tensors in a register, or None for any other value."""
    if x.tag != TAG_OBJECT or type(<object>x.v.o) is not List:
        return None
    cdef List xs = <List>x.v.o
    cdef IValue first
    if xs.size == 0:
        return None
    first = list_item(<PyObject *>xs, 0)
    return xs if is_tensor(&first) else None


cdef int run_in_order(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue q[MOST_REGISTERS]
    cdef int32_t place[MOST_REGISTERS]
    cdef Lies found = IN_ORDER
    cdef List xs
    cdef Py_ssize_t k
    cdef int i, j, n = op.nargs
    if n + op.nrets > MOST_REGISTERS or op.record.variant:
        return run_record(op, r, at)
    for i in range(n):
        xs = tensors_in(&r[at[i]])
        if xs is None:
            found = worst(found, &r[at[i]])
        else:
            for k in range(xs.size):
                found = worst(found, list_place(<PyObject *>xs, k))
    if found == IN_ORDER or found == ELSEWHERE or (found == OTHERWISE and order_matters(op)):
        return run_record(op, r, at)
    for i in range(n + op.nrets):
        q[i].tag = TAG_NONE
        place[i] = i
    try:
        for i in range(n):
            xs = tensors_in(&r[at[i]])
            if xs is None:
                put_in_order(&r[at[i]], &q[i])
            else:
                put_list_in_order(xs, &q[i])
        op.kernels[BACKEND_CPU](op, q, place)
        for j in range(n, n + op.nrets):
            for i in range(n):  # a returned argument must be the caller's object, not the copy
                if q[j].tag == TAG_OBJECT and is_tensor(&q[i]) and q[i].v.o == q[j].v.o:
                    copy_value(&q[j], &r[at[i]])
            move_value(&r[at[j]], &q[j])
    finally:
        for i in range(n):
            release(&q[i])
    return 0
