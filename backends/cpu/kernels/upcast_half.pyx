"""Upcasting of half-precision arguments to float32, and conversion of the results back.

`upcast_half.pxd` describes the use of this fallback.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED, read_signature
from ts._core.tensor.ndarray cimport FLOAT, HALF, PyArrayObject
from ts._core.tensor.overlap cimport has_internal_overlap
from ts._core.tensor.scalar_types cimport number_of_scalar_type
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, wrap_cpu
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT, TAG_NONE, copy_value, release, set_object
from ts.backends.cpu.kernels.contiguous_arguments cimport run_with_contiguous_inputs
from ts.backends.cpu.kernels.kernel cimport is_tensor, scalar_type
from ts.backends.cpu.kernels.kernel_registry cimport FLOAT32_CONTIGUOUS, register_fallback
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16, to_float32, to_half_precision

cdef enum:
    MAX_REGISTERS = 16  # maximal number of arguments and results of an operator whose arguments may be converted
    MAX_HALF_NUMBER = 60000            # maximal magnitude of number arguments, so that they do not overflow float16 (maximum 65504)


cdef bint is_half_tensor(IValue *x) noexcept:
    """Return whether a register holds a float16 or bfloat16 tensor."""
    return is_tensor(x) and (scalar_type(x) == HALF or scalar_type(x) == BFLOAT16)


cdef bint can_upcast(Operator op, IValue *r, const int32_t *at) except -1:
    """Return whether the operator can be computed in float32 for its 16-bit floating-point arguments.

    All tensors must be CPU tensors of one 16-bit dtype without overlapping elements. Numbers must not exceed
    MAX_HALF_NUMBER, and an argument `dtype` must be None.
    """
    cdef int i
    cdef Tensor x
    if op.nargs + op.nrets > MAX_REGISTERS or not is_half_tensor(&r[at[0]]) or op.record.variant:
        return False
    if op.signature_ is None:
        read_signature(op)
    for i in range(op.nargs):
        if op.parameters[i].name == "dtype":
            if r[at[i]].tag != TAG_NONE:
                return False
        elif is_tensor(&r[at[i]]):
            x = <Tensor>r[at[i]].v.o
            if x.backend != BACKEND_CPU or x.scalar_type != scalar_type(&r[at[0]]) or has_internal_overlap(<PyArrayObject *>x.array):
                return False
        elif r[at[i]].tag == TAG_FLOAT and not fabs(r[at[i]].v.f) <= MAX_HALF_NUMBER:
            return False
        elif r[at[i]].tag == TAG_INT and not -MAX_HALF_NUMBER <= r[at[i]].v.i <= MAX_HALF_NUMBER:
            return False
    return True


cdef int run_upcast_to_float32(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue q[MAX_REGISTERS]
    cdef int32_t index[MAX_REGISTERS]
    cdef Tensor x
    cdef int i, j, kind, n = op.nargs
    if not can_upcast(op, r, at):
        return run_with_contiguous_inputs(op, r, at)
    kind = scalar_type(&r[at[0]])
    for i in range(n + op.nrets):
        q[i].tag = TAG_NONE
        index[i] = i
    try:
        for i in range(n):
            if is_tensor(&r[at[i]]):
                set_object(&q[i], wrap_cpu(to_float32(<PyArrayObject *>(<Tensor>r[at[i]].v.o).array), FLOAT))
            else:
                copy_value(&q[i], &r[at[i]])
        if op.kernels[BACKEND_CPU](op, q, index) == UNSUPPORTED:
            run_with_contiguous_inputs(op, q, index)
        for j in range(n, n + op.nrets):
            if is_tensor(&q[j]) and scalar_type(&q[j]) == FLOAT:
                x = <Tensor>q[j].v.o
                set_object(&r[at[j]], wrap_cpu(to_half_precision(<PyArrayObject *>x.array, number_of_scalar_type(kind)), kind))
            else:
                copy_value(&r[at[j]], &q[j])
    finally:
        for i in range(n + op.nrets):
            release(&q[i])
    return 0


register_fallback(FLOAT32_CONTIGUOUS, run_upcast_to_float32)
