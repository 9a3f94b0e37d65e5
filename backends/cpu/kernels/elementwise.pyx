"""Pointwise operators on the CPU by direct calls of ufunc inner loops.

Input: the inner loops of a ufunc, and operands. Output: the result tensor.

The direct calls are faster than NumPy's, and give no warnings. The table shows the calls for each kind of
operand:

    x + y   equal shapes, both contiguous     one call of the loop for all elements
    x + 2   number                            the number is an operand with stride 0
    x + b   b broadcasts                      merged dimensions, one call per innermost dimension
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_Occurred
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.float cimport FLT_MAX
from libc.math cimport fabs
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_OBJECT
from ts._core.tensor.ndarray cimport BOOL, CDOUBLE, CFLOAT, DOUBLE, FLOAT, HALF, INT8, INT16, INT32, INT64, UINT8
from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, new_array, same_shape, size_of
from ts._core.tensor.overlap cimport share_memory, has_internal_overlap
from ts.backends.cpu.kernels.gil cimport ReleasedGil, release_gil_for_arrays, take_gil
from ts.backends.cpu.kernels.kernel cimport MAX_DIMS
from ts.backends.cpu.kernels.short_floats cimport BFLOAT16, is_exact_half, run_half_tiles, shorten
from ts.backends.cpu.kernels.kernel_registry cimport find_loops
from ts.backends.cpu.kernels.tensor_iterator cimport (
    Operand, sort_dims_by_stride, broadcast_into, set_operand_strides, set_scalar_operand, new_result, iterate_operands, run_loop
)
from ts._core.tensor.scalar_types cimport number_of_scalar_type, scalar_type_of_number
from ts._core.tensor.tensor cimport BACKEND_CPU, wrap_cpu, wrote

from ts import dtypes

cnp.import_array()
cnp.import_ufunc()

cdef extern from "numpy/arrayobject.h":
    # This function takes a reference to the dtype from the caller (steals it).
    object new_alike "PyArray_NewLikeArray"(cnp.ndarray, cnp.NPY_ORDER, cnp.dtype, int)

cdef extern from "broadcast_loops_2d.h" nogil:
    ctypedef struct Arithmetic "const struct Arithmetic":
        Loop loops[2]
        Plane planes[2]
    Arithmetic *float_arithmetic(const char *name)

# ---------------------------------------------------------------- loops of a ufunc

cdef class Loops:
    """Inner loops of a NumPy ufunc whose result has the operands' dtype, bool for predicates, or a real dtype."""

    def __cinit__(self):
        cdef int i
        for i in range(SCALAR_TYPES):
            self.function[i] = NULL
            self.data[i] = NULL
            self.plane[i] = NULL
            self.result_type[i] = -1
        self.cost = 1

    def covers(self, int scalar_type):
        """Return whether the ufunc has a loop for operands of ScalarType `scalar_type`."""
        return 0 <= scalar_type < SCALAR_TYPES and self.function[scalar_type] != NULL


cdef enum:
    ELEMENTARY_FUNCTION_COST = 6       # time of an element in units of 0.5 ns

ELEMENTARY_FUNCTIONS = frozenset(
    """exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh
    power float_power hypot logaddexp logaddexp2 cbrt fmod remainder floor_divide""".split()
)

# Ufuncs with loops for complex operands that also support a complex and a real operand.
COMPLEX_ARITHMETIC = frozenset({"add", "subtract", "multiply", "divide", "true_divide", "equal", "not_equal"})

cdef str TYPE_CHARACTERS = "?bBhHiIlLqQfdgFDGOSUVMme"    # indexed by NumPy type number


cdef int scalar_type_of_character(str character) except -2:
    return scalar_type_of_number(np.dtype(character).num)


cdef int result_kind(int operand, str promotion):
    """Return the ScalarType of the result of an operator with `promotion`, for operands of ScalarType `operand`."""
    if promotion == "bool":
        return BOOL
    if promotion == "real" and is_complex(operand):
        return FLOAT if operand == CFLOAT else DOUBLE
    return operand


def ufunc_loops(str name not None, str promotion not None="same", str types=None):
    """Return the loops of NumPy's ufunc `name`, or None if it has more than two operands or one result.

    `promotion` is the type promotion of the operator record, such as "bool" for predicates. For "float", the
    integer loops are left out, because PyTorch's results differ. `types` has the NumPy type characters of the
    allowed operand dtypes, or is None for all.
    """
    cdef Loops loops
    cdef cnp.ufunc ufunc
    cdef int i, operand, result
    candidate = find_loops(f"ufunc:{name}")
    if candidate is None:
        candidate = getattr(np, name, None)
    if not isinstance(candidate, np.ufunc) or candidate.nout != 1 or candidate.nin > 2 or candidate.signature is not None:
        return None
    ufunc = candidate
    loops = Loops()
    loops.name = name
    loops.arity = ufunc.nin
    loops.to_float = promotion == "float"
    loops.cost = ELEMENTARY_FUNCTION_COST if name in ELEMENTARY_FUNCTIONS else 1
    loops.mixes_complex = name in COMPLEX_ARITHMETIC
    loops.raises_for_integers = name == "power"  # NumPy raises ValueError for a negative integer exponent
    for i in range(ufunc.ntypes):
        # Parse the strings of the Python attribute: Cython cannot access the C field `types` in NumPy 2.5.
        operands, _, results = candidate.types[i].partition("->")
        operand, result = scalar_type_of_character(operands[0]), scalar_type_of_character(results)
        if len(set(operands)) > 1 or not 0 <= operand < SCALAR_TYPES or loops.function[operand] != NULL:
            continue
        if result != result_kind(operand, promotion):
            continue
        if promotion == "float" and operand not in (HALF, FLOAT, DOUBLE, CFLOAT, CDOUBLE):
            continue
        if types is not None and dtypes.BY_CODE[operand].numpy_dtype.char not in types:
            continue
        loops.function[operand] = <Loop>ufunc.functions[i]
        loops.data[operand] = ufunc.data[i]
        loops.result_type[operand] = result
    if candidate is getattr(np, name, None):
        replace_float_loops(loops)
    if types is None or "e" in types:
        add_half_loops(loops)
    return loops


cdef void replace_float_loops(Loops loops):
    """Replace NumPy's float32 and float64 loops by those that `broadcast_loops_2d.h` has for the operation, if any.

    Each new loop has NumPy's loop as its data argument, and calls NumPy's loop for strides that the new loop
    does not support.
    """
    cdef Arithmetic *replacement = float_arithmetic(loops.name.encode())
    cdef int *kinds = [FLOAT, DOUBLE]
    cdef int i
    for i in range(2 if replacement != NULL else 0):
        if loops.function[kinds[i]] != NULL and loops.data[kinds[i]] == NULL:
            loops.data[kinds[i]] = <void *>loops.function[kinds[i]]
            loops.function[kinds[i]], loops.plane[kinds[i]] = replacement.loops[i], replacement.planes[i]


cdef void add_half_loops(Loops loops) noexcept:
    cdef int i
    cdef int *kinds = [HALF, BFLOAT16]
    if loops.function[FLOAT] == NULL:
        return
    for i in range(2):
        loops.half_data[i].function = loops.function[FLOAT]
        loops.half_data[i].data = loops.data[FLOAT]
        loops.half_data[i].arity = loops.arity
        loops.half_data[i].brain = kinds[i] == BFLOAT16
        loops.half_data[i].returns_bools = loops.result_type[FLOAT] == BOOL
        loops.function[kinds[i]] = run_half_tiles
        loops.data[kinds[i]] = &loops.half_data[i]
        loops.result_type[kinds[i]] = BOOL if loops.half_data[i].returns_bools else kinds[i]


# ---------------------------------------------------------------- numbers as operands

cdef bint store_number(int scalar_type, IValue *scalar, char *out) noexcept nogil:
    """Write the Python number `scalar` to `out` as an element of dtype `scalar_type`.

    Return False if the dtype cannot represent the number, or if type promotion of a tensor of this dtype and
    the number would give another dtype.
    """
    cdef int64_t i = scalar.v.i
    if scalar.tag == TAG_FLOAT:
        return store_double(scalar_type, scalar.v.f, out)
    if scalar.tag != TAG_INT and scalar.tag != TAG_BOOL:
        return False
    if scalar_type == INT64:
        (<int64_t *>out)[0] = i
    elif scalar_type == FLOAT:
        (<float *>out)[0] = <float>i
    elif scalar_type == DOUBLE:
        (<double *>out)[0] = <double>i
    elif scalar_type == HALF or scalar_type == BFLOAT16:
        return store_double(scalar_type, <double>i, out)
    elif scalar_type == INT32 and -2147483648 <= i <= 2147483647:
        (<int32_t *>out)[0] = <int32_t>i
    elif scalar_type == INT16 and -32768 <= i <= 32767:
        (<int16_t *>out)[0] = <int16_t>i
    elif scalar_type == INT8 and -128 <= i <= 127:
        (<int8_t *>out)[0] = <int8_t>i
    elif scalar_type == UINT8 and 0 <= i <= 255:
        (<uint8_t *>out)[0] = <uint8_t>i
    elif scalar_type == BOOL and scalar.tag == TAG_BOOL:
        (<uint8_t *>out)[0] = <uint8_t>i
    else:
        return False
    return True


cdef inline bint store_double(int scalar_type, double value, char *out) noexcept nogil:
    cdef float wide
    if scalar_type == FLOAT:
        (<float *>out)[0] = <float>value
    elif scalar_type == DOUBLE:
        (<double *>out)[0] = value
    elif (scalar_type == HALF or scalar_type == BFLOAT16) and is_exact_half(value, scalar_type):
        # If half precision cannot represent the number exactly, the operator's Python kernel runs, because it
        # computes with the number before rounding.
        wide = <float>value
        shorten(&wide, 1, scalar_type == BFLOAT16, out, 2)
    else:
        return False
    return True


cdef inline bint is_complex(int kind) noexcept nogil:
    return kind == CFLOAT or kind == CDOUBLE


cdef inline bint store_complex(int scalar_type, double value, char *out) noexcept nogil:
    """Write a real number to `out` as an element of a complex dtype. Return False if it overflows."""
    if scalar_type == CDOUBLE:
        (<double *>out)[0], (<double *>out)[1] = value, 0
        return True
    (<float *>out)[0], (<float *>out)[1] = <float>value, 0
    return fabs(value) <= FLT_MAX


cdef inline bint is_aligned(PyArrayObject *a) noexcept nogil:
    return flags_of(a) & cnp.NPY_ARRAY_ALIGNED != 0


cdef bint store_element(int scalar_type, Tensor x, char *out) noexcept:
    """Write the element of a 0-dim tensor `x` to `out` as an element of dtype `scalar_type`.

    Return False if the conversion is unsupported, or if a Python number of this value would promote to another dtype.
    """
    cdef IValue scalar
    cdef char *data = data_of(<PyArrayObject *>x.array)
    if not is_aligned(<PyArrayObject *>x.array):
        return False
    if x.scalar_type == DOUBLE:
        return store_double(scalar_type, (<double *>data)[0], out)
    if x.scalar_type == FLOAT:
        return store_double(scalar_type, (<float *>data)[0], out)
    if x.scalar_type == INT64:
        scalar.v.i = (<int64_t *>data)[0]
        scalar.tag = TAG_INT
        return store_number(scalar_type, &scalar, out)
    return False


# ---------------------------------------------------------------- calls of a loop

cdef inline double loop_cost(Loops loops, int scalar_type) noexcept:
    """Return the time per element in units of 0.5 ns, or 0 if the loop must run on this thread."""
    return 0 if loops.raises_for_integers and is_integral(scalar_type) else loops.cost


cdef inline int run_contiguous(
    Loops loops, int scalar_type, char **args, npy_intp n, npy_intp *strides, PyArrayObject *x, PyArrayObject *y
) except -1:
    """Run the loop over `n` contiguous elements, without the GIL if `n` is large. `y` may be NULL."""
    cdef double cost = loop_cost(loops, scalar_type)
    cdef ReleasedGil gil_state = release_gil_for_arrays(n, x, y)
    run_loop(loops.function[scalar_type], loops.data[scalar_type], args, loops.arity + 1, n, strides, cost)
    take_gil(gil_state)
    return -1 if PyErr_Occurred() else 0


cdef inline bint is_contiguous(PyArrayObject *a) noexcept nogil:
    return (flags_of(a) & (cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED)) == (
        cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED
    )


cdef bint has_loop(Loops loops, Tensor x) noexcept:
    return x.backend == BACKEND_CPU and x.scalar_type < SCALAR_TYPES and loops.function[x.scalar_type] != NULL


cdef PyObject *new_reference(Tensor t) noexcept:
    Py_INCREF(t)
    return <PyObject *>t


cdef inline void copy_shape(npy_intp *shape, PyArrayObject *a) noexcept nogil:
    cdef int d
    for d in range(ndim_of(a)):
        shape[d] = dims_of(a)[d]


cdef PyObject *unary(Loops loops, Tensor x) except? NULL:
    cdef PyArrayObject *a
    cdef char *args[2]
    cdef npy_intp strides[2]
    cdef Operand operands[2]
    cdef int kind = x.scalar_type, result_type
    cdef object result
    if not has_loop(loops, x):
        return NULL
    a = <PyArrayObject *>x.array
    if not is_contiguous(a):
        return unary_nd(loops, kind, a) if is_aligned(a) else NULL
    result_type = loops.result_type[kind]
    result = new_array(ndim_of(a), dims_of(a), number_of_scalar_type(result_type))
    args[0] = data_of(a)
    args[1] = data_of(<PyArrayObject *>result)
    strides[0] = item_size(kind)
    strides[1] = item_size(result_type)
    run_contiguous(loops, kind, args, size_of(a), strides, a, NULL)
    return new_reference(wrap_cpu(result, result_type))


cdef PyObject *unary_nd(Loops loops, int kind, PyArrayObject *a) except? NULL:
    """Compute op(x) for an operand with any strides."""
    cdef npy_intp shape[MAX_DIMS]
    cdef Operand operands[2]
    cdef int ndim = ndim_of(a)
    cdef object result
    copy_shape(shape, a)
    set_operand_strides(&operands[0], a, ndim, shape)
    result = new_result(operands, 1, ndim, shape, loops.result_type[kind])
    iterate_operands(loops.function[kind], loops.data[kind], operands, 2, ndim, shape, NULL, loop_cost(loops, kind))
    return new_reference(wrap_cpu(result, loops.result_type[kind]))


cdef inline bint is_target(PyArrayObject *a) noexcept nogil:
    """Return whether an array can be written in place: it is aligned, writable and has no overlapping
    elements.
    """
    return is_aligned(a) and flags_of(a) & cnp.NPY_ARRAY_WRITEABLE and not has_internal_overlap(a)


cdef PyObject *unary_inplace(Loops loops, Tensor x) except? NULL:
    cdef PyArrayObject *a
    cdef char *args[2]
    cdef npy_intp strides[2]
    cdef PyObject *result
    cdef int kind = x.scalar_type
    if not has_loop(loops, x) or loops.result_type[kind] != kind:
        return NULL
    a = <PyArrayObject *>x.array
    if not is_target(a):
        return NULL
    if is_contiguous(a):
        args[0] = args[1] = data_of(a)
        strides[0] = strides[1] = item_size(kind)
        run_contiguous(loops, kind, args, size_of(a), strides, a, NULL)
    else:
        result = unary_nd(loops, kind, a)
        cnp.PyArray_CopyInto(<cnp.ndarray>x.array, <cnp.ndarray>(<Tensor>result).array)
        Py_DECREF(<object>result)
    wrote(x)
    return new_reference(x)


cdef inline bint rejects_bool(Loops loops, bint with_bool):
    """Return whether the operation is a subtraction with a bool operand.

    The operator's Python kernel raises an error for such a subtraction.
    """
    return with_bool and loops.name == "subtract"


cdef enum Other:
    NEITHER
    NUMBER
    TENSOR


cdef inline Other read_second_operand(Loops loops, Tensor x, IValue *other, char *scalar_bytes) noexcept:
    """Return the kind of the second operand: TENSOR, NUMBER or NEITHER.

    TENSOR is a tensor with the dtype of `x`. NUMBER is a Python number or a 0-dim tensor, whose value this
    function writes to `scalar_bytes` in the dtype of `x`. NEITHER is an unsupported operand.
    """
    cdef Tensor y
    cdef double value
    if other.tag != TAG_OBJECT:
        if is_complex(x.scalar_type):
            if not loops.mixes_complex or other.tag not in (TAG_INT, TAG_FLOAT):
                return NEITHER
            value = other.v.f if other.tag == TAG_FLOAT else <double>other.v.i
            return NUMBER if store_complex(x.scalar_type, value, scalar_bytes) else NEITHER
        return NEITHER if rejects_bool(loops, other.tag == TAG_BOOL) or not store_number(x.scalar_type, other, scalar_bytes) else NUMBER
    if not isinstance(<object>other.v.o, Tensor):
        return NEITHER
    y = <Tensor>other.v.o
    if y.backend != BACKEND_CPU:
        return NEITHER
    if y.scalar_type == x.scalar_type:
        return TENSOR
    if ndim_of(<PyArrayObject *>y.array) != 0 or ndim_of(<PyArrayObject *>x.array) == 0:
        return NEITHER
    if is_complex(x.scalar_type):
        if not loops.mixes_complex or not is_floating(y.scalar_type) or not store_element(DOUBLE, y, <char *>&value):
            return NEITHER
        return NUMBER if store_complex(x.scalar_type, value, scalar_bytes) else NEITHER
    return NEITHER if rejects_bool(loops, y.scalar_type == BOOL) or not store_element(x.scalar_type, y, scalar_bytes) else NUMBER


cdef inline bint is_floating(int kind) noexcept nogil:
    return kind == FLOAT or kind == DOUBLE


cdef inline bint is_integral(int kind) noexcept nogil:
    return kind <= INT64 or kind == BOOL


cdef int complex_kind(Loops loops, Tensor x, Tensor y) noexcept:
    """Return the complex ScalarType to which type promotion converts a complex and a real tensor, or -1.

    The result is -1 for other operands, and if only one of the tensors has no dimensions.
    """
    cdef int kind, other
    kind, other = (x.scalar_type, y.scalar_type) if is_complex(x.scalar_type) else (y.scalar_type, x.scalar_type)
    if not loops.mixes_complex or not is_complex(kind) or not (is_floating(other) or is_integral(other)):
        return -1
    if (ndim_of(<PyArrayObject *>x.array) == 0) != (ndim_of(<PyArrayObject *>y.array) == 0):
        return -1
    return CDOUBLE if other == DOUBLE else kind


cdef int common_kind(Loops loops, Tensor x, IValue *other) except -2:
    """Return the floating or complex ScalarType to which type promotion converts both operands.

    Supported are a floating or complex tensor and an integral tensor, a complex and a floating tensor, an integral
    tensor and a float, and, if `loops.to_float`, two integral operands. Return -1 for other operands.
    """
    cdef Tensor y
    cdef bint to_default
    if other.tag == TAG_OBJECT:
        if not isinstance(<object>other.v.o, Tensor) or (<Tensor>other.v.o).backend != BACKEND_CPU:
            return -1
        y = <Tensor>other.v.o
        if is_complex(x.scalar_type) or is_complex(y.scalar_type):
            return complex_kind(loops, x, y)
        if is_floating(x.scalar_type) and is_integral(y.scalar_type):
            return x.scalar_type
        if is_integral(x.scalar_type) and is_floating(y.scalar_type):
            return y.scalar_type
        to_default = loops.to_float and is_integral(x.scalar_type) and is_integral(y.scalar_type)
    else:
        to_default = other.tag == TAG_FLOAT or (loops.to_float and (other.tag == TAG_INT or other.tag == TAG_BOOL))
        to_default = to_default and is_integral(x.scalar_type)
    return dtypes.get_default_dtype().code if to_default else -1


cdef Tensor converted_tensor(Tensor x, int kind):
    """Return a copy of `x` with dtype `kind` and the same dimension order."""
    cdef cnp.dtype dtype = cnp.PyArray_DescrFromType(number_of_scalar_type(kind))
    Py_INCREF(dtype)
    cdef object result = new_alike(<cnp.ndarray>x.array, cnp.NPY_KEEPORDER, dtype, 0)
    cnp.PyArray_CopyInto(<cnp.ndarray>result, <cnp.ndarray>x.array)
    return wrap_cpu(result, kind)


cdef PyObject *binary_mixed(Loops loops, Tensor x, IValue *other) except? NULL:
    """Compute `x op other` for operands of different categories: a complex, a floating and an integral one.

    Both are first converted to one dtype.
    """
    cdef int kind = common_kind(loops, x, other)
    cdef Tensor y
    cdef IValue converted
    cdef bint with_bool = x.scalar_type == BOOL or other.tag == TAG_BOOL
    if not (is_floating(kind) or is_complex(kind)) or loops.function[kind] == NULL or x.backend != BACKEND_CPU or has_internal_overlap(<PyArrayObject *>x.array):
        return NULL
    if x.scalar_type != kind:
        x = converted_tensor(x, kind)
    if other.tag != TAG_OBJECT:
        return NULL if rejects_bool(loops, with_bool) else binary(loops, x, other)
    y = <Tensor>other.v.o
    if rejects_bool(loops, with_bool or y.scalar_type == BOOL) or has_internal_overlap(<PyArrayObject *>y.array):
        return NULL
    if y.scalar_type != kind:
        y = converted_tensor(y, kind)
    converted.tag = TAG_OBJECT
    converted.v.o = <PyObject *>y
    return binary(loops, x, &converted)


cdef PyObject *binary(Loops loops, Tensor x, IValue *other) except? NULL:
    cdef PyArrayObject *a
    cdef PyArrayObject *b = NULL
    cdef char *args[3]
    cdef npy_intp strides[3]
    cdef char scalar_bytes[16]
    cdef int kind = x.scalar_type, result_type
    cdef Other operand_type
    cdef object result
    if not has_loop(loops, x):
        return binary_mixed(loops, x, other)
    operand_type = read_second_operand(loops, x, other, scalar_bytes)
    if operand_type == NEITHER:
        return binary_mixed(loops, x, other)
    a = <PyArrayObject *>x.array
    result_type = loops.result_type[kind]
    strides[0] = item_size(kind)
    strides[2] = 1 if result_type == BOOL else strides[0]
    args[0] = data_of(a)
    if operand_type == TENSOR:
        b = <PyArrayObject *>(<Tensor>other.v.o).array
        if not is_contiguous(a) or not is_contiguous(b) or not same_shape(a, b):
            return binary_nd(loops, kind, a, b, NULL)
        args[1] = data_of(b)
        strides[1] = strides[0]
    elif is_contiguous(a):
        args[1] = scalar_bytes
        strides[1] = 0
    else:
        return binary_nd(loops, kind, a, NULL, scalar_bytes)
    result = new_array(ndim_of(a), dims_of(a), number_of_scalar_type(result_type))
    args[2] = data_of(<PyArrayObject *>result)
    run_contiguous(loops, kind, args, size_of(a), strides, a, b)
    return new_reference(wrap_cpu(result, result_type))


cdef PyObject *binary_nd(Loops loops, int kind, PyArrayObject *a, PyArrayObject *b, char *scalar_bytes) except? NULL:
    """Compute `a op b` for operands of one dtype, with broadcasting or any strides.

    If `b` is NULL, the second operand is the element at `scalar_bytes`.
    """
    cdef int ndim = ndim_of(a) if b == NULL else max(ndim_of(a), ndim_of(b)), d
    cdef npy_intp shape[MAX_DIMS]
    cdef Operand operands[3]
    cdef object result
    if not is_aligned(a) or (b != NULL and not is_aligned(b)):
        return NULL
    for d in range(ndim):
        shape[d] = 1
    if not broadcast_into(shape, ndim, a) or (b != NULL and not broadcast_into(shape, ndim, b)):
        return NULL
    set_operand_strides(&operands[0], a, ndim, shape)
    if b == NULL:
        set_scalar_operand(&operands[1], scalar_bytes, ndim)
    else:
        set_operand_strides(&operands[1], b, ndim, shape)
    result = new_result(operands, 2, ndim, shape, loops.result_type[kind])
    iterate_operands(loops.function[kind], loops.data[kind], operands, 3, ndim, shape, loops.plane[kind], loop_cost(loops, kind))
    return new_reference(wrap_cpu(result, loops.result_type[kind]))


cdef PyObject *binary_inplace(Loops loops, Tensor x, IValue *other) except? NULL:
    cdef PyArrayObject *a
    cdef PyArrayObject *b = NULL
    cdef char *args[3]
    cdef npy_intp strides[3]
    cdef char scalar_bytes[16]
    cdef int kind = x.scalar_type
    cdef Other operand_type
    if not has_loop(loops, x) or loops.result_type[kind] != kind:
        return NULL
    a = <PyArrayObject *>x.array
    if not is_target(a):
        return NULL
    operand_type = read_second_operand(loops, x, other, scalar_bytes)
    if operand_type == NEITHER:
        return NULL
    args[0] = args[2] = data_of(a)
    args[1] = scalar_bytes
    strides[0] = strides[2] = item_size(kind)
    strides[1] = 0
    if operand_type == TENSOR:
        b = <PyArrayObject *>(<Tensor>other.v.o).array
        args[1] = data_of(b)
        if not is_aligned(b) or (a != b and share_memory(a, b)):
            return NULL
        if ndim_of(b):
            strides[1] = strides[0]
    if is_contiguous(a) and (b == NULL or a == b or ndim_of(b) == 0):
        run_contiguous(loops, kind, args, size_of(a), strides, a, b)
    elif not inplace_nd(loops, kind, a, b, scalar_bytes):
        return NULL
    wrote(x)
    return new_reference(x)


cdef bint write_result(Loops loops, Tensor x, IValue *other, Tensor out) except -1:
    """Compute the operation and write the result to `out`, which may have the array of an operand.

    Return False without writing if a tensor is not contiguous, the shapes differ, the dtypes have no loop, or
    `out` is another array that shares memory with an operand.
    """
    cdef PyArrayObject *a
    cdef PyArrayObject *b = NULL
    cdef PyArrayObject *result
    cdef char *args[3]
    cdef npy_intp strides[3]
    cdef char scalar_bytes[16]
    cdef int kind = x.scalar_type, n = 1
    cdef Other operand_type
    if not has_loop(loops, x) or out.backend != BACKEND_CPU or out.scalar_type != loops.result_type[kind]:
        return False
    a, result = <PyArrayObject *>x.array, <PyArrayObject *>out.array
    if not is_contiguous(a) or not is_contiguous(result) or not is_target(result) or not same_shape(a, result):
        return False
    args[0], strides[0] = data_of(a), item_size(kind)
    if other != NULL:
        operand_type = read_second_operand(loops, x, other, scalar_bytes)
        if operand_type == NEITHER:
            return False
        args[1], strides[1] = scalar_bytes, 0
        if operand_type == TENSOR:
            b = <PyArrayObject *>(<Tensor>other.v.o).array
            if not is_contiguous(b) or not same_shape(a, b) or (b != result and share_memory(b, result)):
                return False
            args[1], strides[1] = data_of(b), strides[0]
        n = 2
    if a != result and share_memory(a, result):
        return False
    args[n], strides[n] = data_of(result), item_size(out.scalar_type)
    run_contiguous(loops, kind, args, size_of(a), strides, a, b)
    wrote(out)
    return True


cdef bint inplace_nd(Loops loops, int kind, PyArrayObject *a, PyArrayObject *b, char *scalar_bytes) except -1:
    """Compute a = a op b in place. If `b` is NULL, the second operand is the element at `scalar_bytes`.

    Return False if `b` does not broadcast to `a`.
    """
    cdef int ndim = ndim_of(a), lead, d
    cdef npy_intp shape[MAX_DIMS]
    cdef int order[MAX_DIMS]
    cdef Operand operands[3]
    copy_shape(shape, a)
    if b != NULL:
        lead = ndim - ndim_of(b)
        if lead < 0:
            return False
        for d in range(ndim_of(b)):
            if dims_of(b)[d] != 1 and dims_of(b)[d] != shape[lead + d]:
                return False
        set_operand_strides(&operands[1], b, ndim, shape)
    else:
        set_scalar_operand(&operands[1], scalar_bytes, ndim)
    set_operand_strides(&operands[0], a, ndim, shape)
    sort_dims_by_stride(operands, 2, ndim, shape, order)
    operands[2] = operands[0]
    iterate_operands(loops.function[kind], loops.data[kind], operands, 3, ndim, shape, loops.plane[kind], loop_cost(loops, kind))
    return True
