"""Kernels of pointwise operators that read registers and call the inner loops of ufuncs.

Input: interpreter registers with tensors and numbers. Output: the register of the result. For unsupported
operands, the operator's Python kernel runs. Examples:

    x + y, x.exp_(), x * 2, x.add(y, alpha=1), torch.add(x, y, out=z)
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport int32_t

from ts._core.dispatch.operator cimport Kernel, Operator, UNSUPPORTED, set_kernel
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject
from ts._core.tensor.overlap cimport share_memory
from ts._core.value.ivalue cimport IValue, TAG_FLOAT, TAG_INT, TAG_OBJECT, set_object, set_object_steal
from ts.backends.cpu.kernels.elementwise cimport Loops, binary, binary_inplace, unary, unary_inplace, write_result
from ts.backends.cpu.kernels.kernel cimport float_array, is_tensor
from ts.backends.cpu.kernels.kernel_registry cimport fallback_of, find_kernel, find_loops

from ts.backends.cpu.kernels.elementwise import ufunc_loops


cdef dict _loops_of = {}  # cache: (ufunc name, type promotion, dtypes) -> loops


cdef Loops loops_of_record(Operator op):
    """Return the ufunc loops of an operator record, or of the operator record from which it is derived.

    Return None if the operator record has no ufunc.
    """
    record = op.record.base or op.record
    if record.ufunc is None:
        return None
    name = record.ufunc, record.promotion or "same", record.types
    if name not in _loops_of:
        _loops_of[name] = find_loops(f"loops:{record.ufunc}") or ufunc_loops(*name)
    return _loops_of[name]


cdef int bind_loops(Operator op) except -1:
    cdef Loops loops
    cdef Kernel kernel
    record = op.record
    loops = loops_of_record(op)
    if loops is None:
        return 0
    if record.variant == "out":
        return bind_output(op, loops)
    in_place = record.variant == "inplace"
    if loops.arity == 1 and op.nargs == 1:
        kernel = run_unary_inplace if in_place else run_unary
    elif loops.arity == 2 and op.nargs == 2:
        kernel = run_binary_inplace if in_place else run_binary
    elif loops.arity == 2 and op.nargs == 3 and "Scalar alpha=1" in op.schema_text:
        if in_place:
            kernel = run_scaled_inplace
        else:
            kernel = run_sum if record.ufunc == "add" else run_scaled
    else:
        return 0
    return set_kernel(op, BACKEND_CPU, kernel, loops)


cdef int bind_output(Operator op, Loops loops) except -1:
    """Set the kernel of the `out=` overload `op`, whose last argument is the output.

    Do nothing if no kernel fits the overload's arguments.
    """
    cdef Kernel kernel
    if op.nargs == loops.arity + 1:
        kernel = run_unary_out if loops.arity == 1 else run_binary_out
    elif loops.arity == 2 and op.nargs == 4 and "Scalar alpha=1" in op.schema_text:
        kernel = run_scaled_out
    else:
        return 0
    return set_kernel(op, BACKEND_CPU, kernel, loops)


cdef inline bint is_one(IValue *alpha, IValue *x) noexcept:
    """Return whether the factor `alpha` equals 1 and is valid for `x`.

    1.0 is valid only if `x` is a contiguous float32 or float64 tensor. For an integer tensor, the operator's
    Python kernel raises an error.
    """
    if alpha.tag == TAG_INT:
        return alpha.v.i == 1
    return alpha.tag == TAG_FLOAT and alpha.v.f == 1 and float_array(x) != NULL


cdef inline Loops get_loops(Operator op):
    return <Loops>op.state[BACKEND_CPU]


cdef inline int store_result(Operator op, IValue *r, const int32_t *at, PyObject *result) except -1:
    """Store `result` in the register of the result.

    If `result` is NULL, request the operator's Python kernel instead.
    """
    if result == NULL:
        return UNSUPPORTED
    set_object_steal(&r[at[op.nargs]], result)
    return 0


cdef int run_unary(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *x = &r[at[0]]
    return store_result(op, r, at, unary(get_loops(op), <Tensor>x.v.o) if is_tensor(x) else NULL)


cdef int run_unary_inplace(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *x = &r[at[0]]
    return store_result(op, r, at, unary_inplace(get_loops(op), <Tensor>x.v.o) if is_tensor(x) else NULL)


cdef int run_binary(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *x = &r[at[0]]
    return store_result(op, r, at, binary(get_loops(op), <Tensor>x.v.o, &r[at[1]]) if is_tensor(x) else NULL)


cdef int run_binary_inplace(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *x = &r[at[0]]
    return store_result(op, r, at, binary_inplace(get_loops(op), <Tensor>x.v.o, &r[at[1]]) if is_tensor(x) else NULL)


cdef int compute_output(Operator op, IValue *r, const int32_t *at, IValue *other) except -1:
    """Compute the operation and write the result to the operator's last argument.

    If the loops cannot write to this argument directly, the operator's Python kernel runs.
    """
    cdef IValue *x = &r[at[0]]
    cdef IValue *out = &r[at[op.nargs - 1]]
    if not is_tensor(x) or not is_tensor(out):
        return UNSUPPORTED
    if not write_result(get_loops(op), <Tensor>x.v.o, other, <Tensor>out.v.o):
        return UNSUPPORTED
    set_object(&r[at[op.nargs]], <object>out.v.o)
    return 0


cdef int run_unary_out(Operator op, IValue *r, const int32_t *at) except -1:
    return compute_output(op, r, at, NULL)


cdef int run_binary_out(Operator op, IValue *r, const int32_t *at) except -1:
    return compute_output(op, r, at, &r[at[1]])


cdef int run_scaled_out(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute x op alpha * y with `out=`. If alpha is not 1, the operator's Python kernel runs."""
    return compute_output(op, r, at, &r[at[1]]) if is_one(&r[at[2]], &r[at[0]]) else UNSUPPORTED


cdef int run_scaled(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute x op alpha * y. If alpha is not 1, the operator's Python kernel runs."""
    return run_binary(op, r, at) if is_one(&r[at[2]], &r[at[0]]) else UNSUPPORTED


cdef int run_scaled_inplace(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute x = x op alpha * y in place.

    Unless alpha is 1, alpha * y is first stored in a temporary tensor.
    """
    cdef IValue product
    cdef PyObject *result = NULL
    if is_one(&r[at[2]], &r[at[0]]):
        return run_binary_inplace(op, r, at)
    if not can_scale_in_place(&r[at[0]], &r[at[1]], &r[at[2]]):
        return UNSUPPORTED
    product.v.o = binary(multiply_loops(), <Tensor>r[at[1]].v.o, &r[at[2]])
    if product.v.o != NULL:
        product.tag = TAG_OBJECT
        result = binary_inplace(get_loops(op), <Tensor>r[at[0]].v.o, &product)
        Py_DECREF(<object>product.v.o)
    return store_result(op, r, at, result)


cdef bint can_scale_in_place(IValue *x, IValue *y, IValue *alpha) noexcept:
    """Return whether `x` and `y` are CPU tensors of one floating dtype, and `alpha` is a number.

    Also return False if the tensors have different arrays that share memory.
    """
    cdef PyArrayObject *a
    cdef PyArrayObject *b
    if not is_tensor(x) or not is_tensor(y):
        return False
    if (<Tensor>x.v.o).backend != BACKEND_CPU or (<Tensor>y.v.o).backend != BACKEND_CPU:
        return False
    if (<Tensor>x.v.o).scalar_type != (<Tensor>y.v.o).scalar_type or (alpha.tag != TAG_INT and alpha.tag != TAG_FLOAT):
        return False
    if (<Tensor>x.v.o).scalar_type != FLOAT and (<Tensor>x.v.o).scalar_type != DOUBLE:
        return False
    a = <PyArrayObject *>(<Tensor>x.v.o).array
    b = <PyArrayObject *>(<Tensor>y.v.o).array
    return a == b or not share_memory(a, b)


cdef Loops _multiplication = None


cdef Loops multiply_loops():
    global _multiplication
    if _multiplication is None:
        _multiplication = ufunc_loops("multiply")
    return _multiplication


cdef Kernel _scaled_sum = NULL
cdef Kernel _scaled_sum_fallback = NULL


cdef int run_sum(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute x + alpha * y: by the loops of `add` if alpha is 1, else in one pass by `add_scaled`."""
    global _scaled_sum, _scaled_sum_fallback
    cdef IValue *x = &r[at[0]]
    cdef PyObject *result = NULL
    if is_one(&r[at[2]], x) and is_tensor(x):
        result = binary(get_loops(op), <Tensor>x.v.o, &r[at[1]])
    if result != NULL:
        set_object_steal(&r[at[op.nargs]], result)
        return 0
    if _scaled_sum == NULL:
        _scaled_sum, _scaled_sum_fallback = find_kernel("scaled_sum"), fallback_of("scaled_sum")
    op.fallbacks[BACKEND_CPU] = _scaled_sum_fallback
    return _scaled_sum(op, r, at)
