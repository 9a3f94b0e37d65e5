"""The direct way for pointwise operators on the CPU.

In: a ufunc's inner loops (`PyUFuncObject.functions`) and operands; out: the result tensor.

    x + y   float32, both contiguous, same shape     one call of the loop over all elements
    x + 2   the number is written once in x's dtype; its stride is 0
    x + b   b broadcasts: strides 0, merged dimensions, the loop runs over the innermost

Type resolution, casting buffers and error state of NumPy's own ufunc call are what this leaves out:
they cost several times the loop on a small tensor.  Loops set floating-point status flags, which
NumPy clears itself before it looks at them; PyTorch has no such warnings.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_Occurred
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from numpy cimport npy_intp

from ts._core.value.ivalue cimport IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_OBJECT
from ts._core.tensor.ndarray cimport BOOL, CDOUBLE, CFLOAT, DOUBLE, FLOAT, HALF, INT8, INT16, INT32, INT64, UINT8
from ts._core.tensor.ndarray cimport PyArrayObject, data_of, dims_of, flags_of, ndim_of, new_array, size_of, strides_of
from ts._core.tensor.overlap cimport meet
from ts.backends.cpu.kernels.gil cimport Away, leave_gil_with, take_gil
from ts.backends.cpu.kernels.kernel cimport MOST_DIMS, same_shape
from ts._core.tensor.tensor cimport BACKEND_CPU, number_of_scalar_type, scalar_type_of_number, wrap_cpu, wrote

from ts import dtypes

cnp.import_array()
cnp.import_ufunc()

cdef enum:
    MOST_OPERANDS = 3


ctypedef struct Operand:
    PyArrayObject *array
    npy_intp strides[MOST_DIMS]


# ---------------------------------------------------------------- loops of a ufunc

cdef class Loops:
    """The inner loops of a NumPy ufunc whose result type is the operands' (or bool, for predicates)."""

    def __cinit__(self):
        cdef int i
        for i in range(SCALAR_TYPES):
            self.function[i] = NULL
            self.data[i] = NULL
            self.result_type[i] = -1

    def covers(self, int scalar_type):
        """Whether there is a loop for operands of this ScalarType."""
        return 0 <= scalar_type < SCALAR_TYPES and self.function[scalar_type] != NULL


cdef str TYPE_CHARACTERS = "?bBhHiIlLqQfdgFDGOSUVMme"    # by NumPy's type number


cdef int scalar_type_of_character(str character) except -2:
    return scalar_type_of_number(np.dtype(character).num)


def ufunc_loops(str name not None, str promotion not None="same", str types=None):
    """The loops of NumPy's ufunc `name`; None where it is none with one or two operands.

    `promotion` is the record's: "bool" for predicates; "float" leaves out the loops for integers,
    whose results are not NumPy's.  `types` (NumPy type characters) leaves out all others.
    """
    cdef Loops loops
    cdef cnp.ufunc ufunc
    cdef int i, operand, result
    found = getattr(np, name, None)
    if found is None:
        from ts.backends.cpu.kernels.special import UFUNCS
        found = UFUNCS.get(name)
    if not isinstance(found, np.ufunc) or found.nout != 1 or found.nin > 2 or found.signature is not None:
        return None
    ufunc = found
    loops = Loops()
    loops.name = name
    loops.arity = ufunc.nin
    for i in range(ufunc.ntypes):
        operands, _, results = found.types[i].partition("->")  # NumPy 2.5 shows Cython no `types` of a ufunc
        operand, result = scalar_type_of_character(operands[0]), scalar_type_of_character(results)
        if len(set(operands)) > 1 or not 0 <= operand < SCALAR_TYPES or loops.function[operand] != NULL:
            continue
        if result != (BOOL if promotion == "bool" else operand):
            continue
        if promotion == "float" and operand not in (HALF, FLOAT, DOUBLE, CFLOAT, CDOUBLE):
            continue
        if types is not None and dtypes.BY_CODE[operand].numpy_dtype.char not in types:
            continue
        loops.function[operand] = <Loop>ufunc.functions[i]
        loops.data[operand] = ufunc.data[i]
        loops.result_type[operand] = result
    return loops


# ---------------------------------------------------------------- numbers as operands

cdef inline bint store_number(int scalar_type, IValue *number, char *out) noexcept nogil:
    """Write a Python number in the tensor's dtype; false where promotion would change the result's."""
    cdef int64_t i = number.v.i
    if number.tag == TAG_FLOAT:
        return store_double(scalar_type, number.v.f, out)
    if number.tag != TAG_INT and number.tag != TAG_BOOL:
        return False
    if scalar_type == INT64:
        (<int64_t *>out)[0] = i
    elif scalar_type == FLOAT:
        (<float *>out)[0] = <float>i
    elif scalar_type == DOUBLE:
        (<double *>out)[0] = <double>i
    elif scalar_type == INT32 and -2147483648 <= i <= 2147483647:
        (<int32_t *>out)[0] = <int32_t>i
    elif scalar_type == INT16 and -32768 <= i <= 32767:
        (<int16_t *>out)[0] = <int16_t>i
    elif scalar_type == INT8 and -128 <= i <= 127:
        (<int8_t *>out)[0] = <int8_t>i
    elif scalar_type == UINT8 and 0 <= i <= 255:
        (<uint8_t *>out)[0] = <uint8_t>i
    elif scalar_type == BOOL and number.tag == TAG_BOOL:
        (<uint8_t *>out)[0] = <uint8_t>i
    else:
        return False
    return True


cdef inline bint store_double(int scalar_type, double value, char *out) noexcept nogil:
    if scalar_type == FLOAT:
        (<float *>out)[0] = <float>value
    elif scalar_type == DOUBLE:
        (<double *>out)[0] = value
    else:
        return False
    return True


cdef inline bint store_element(int scalar_type, Tensor x, char *out) noexcept:
    """Write the element of a 0-dim tensor of another dtype: it promotes as a number does."""
    cdef IValue number
    cdef char *place = data_of(<PyArrayObject *>x.array)
    if x.scalar_type == DOUBLE:
        return store_double(scalar_type, (<double *>place)[0], out)
    if x.scalar_type == FLOAT:
        return store_double(scalar_type, (<float *>place)[0], out)
    if x.scalar_type == INT64:
        number.v.i = (<int64_t *>place)[0]
        number.tag = TAG_INT
        return store_number(scalar_type, &number, out)
    return False


# ---------------------------------------------------------------- running a loop

cdef int run_nd(Loops loops, int scalar_type, int count, Operand *operands, int ndim, npy_intp *shape) except -1:
    """Run over an n-dimensional index space: the loop takes the innermost dimension, an odometer the rest.

    There are two operands at least, and the last is the result, or one of them.
    """
    cdef npy_intp dims[MOST_DIMS]
    cdef npy_intp index[MOST_DIMS]
    cdef npy_intp steps[MOST_OPERANDS]
    cdef char *args[MOST_OPERANDS]
    cdef char *at[MOST_OPERANDS]
    cdef int d, k, n = 0
    cdef bint mergeable
    # Drop dimensions of length 1 and merge neighbours that every operand walks through evenly.
    for d in range(ndim):
        if shape[d] == 0:
            return 0
        if shape[d] == 1:
            continue
        mergeable = n > 0
        if mergeable:
            for k in range(count):
                if operands[k].strides[n - 1] != operands[k].strides[d] * shape[d]:
                    mergeable = False
                    break
        if mergeable:
            dims[n - 1] *= shape[d]
        else:
            dims[n] = shape[d]
            n += 1
        for k in range(count):
            operands[k].strides[n - 1] = operands[k].strides[d]
    if n == 0:
        dims[0] = 1
        n = 1
        for k in range(count):
            operands[k].strides[0] = 0
    for k in range(count):
        at[k] = data_of(operands[k].array)
        steps[k] = operands[k].strides[n - 1]
    for d in range(n):
        index[d] = 0
    cdef Loop function = loops.function[scalar_type]
    cdef void *data = loops.data[scalar_type]
    cdef npy_intp inner = dims[n - 1], total = 1
    for d in range(n):
        total *= dims[d]
    cdef Away away = leave_gil_with(total, operands[0].array, operands[1].array)
    while True:
        for k in range(count):
            args[k] = at[k]
        function(args, &inner, steps, data)
        d = n - 2
        while d >= 0:
            index[d] += 1
            for k in range(count):
                at[k] += operands[k].strides[d]
            if index[d] < dims[d]:
                break
            for k in range(count):
                at[k] -= operands[k].strides[d] * dims[d]
            index[d] = 0
            d -= 1
        if d < 0:
            break
    take_gil(away)
    return -1 if PyErr_Occurred() else 0


cdef inline int run_flat(
    Loops loops, int scalar_type, char **args, npy_intp n, npy_intp *steps, PyArrayObject *x, PyArrayObject *y
) except -1:
    """Run over `n` elements of x, and of y where it is not NULL."""
    cdef Away away = leave_gil_with(n, x, y)
    loops.function[scalar_type](args, &n, steps, loops.data[scalar_type])
    take_gil(away)
    return -1 if PyErr_Occurred() else 0


cdef inline bint is_flat(PyArrayObject *a) noexcept nogil:
    return (flags_of(a) & (cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED)) == (
        cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED
    )


cdef inline npy_intp item_size(int scalar_type) noexcept nogil:
    if scalar_type in (FLOAT, INT32):
        return 4
    if scalar_type in (UINT8, INT8, BOOL):
        return 1
    if scalar_type in (INT16, HALF):
        return 2
    return 16 if scalar_type == CDOUBLE else 8


cdef bint has_loop(Loops loops, Tensor x) noexcept:
    return x.backend == BACKEND_CPU and x.scalar_type < SCALAR_TYPES and loops.function[x.scalar_type] != NULL


cdef PyObject *steal(Tensor t) noexcept:
    Py_INCREF(t)
    return <PyObject *>t


cdef inline bint row_major(PyArrayObject *a) noexcept nogil:
    """Whether the strides do not grow from a dimension to the next: then a result in C order suits."""
    cdef int d
    cdef npy_intp last = 0
    if not flags_of(a) & cnp.NPY_ARRAY_ALIGNED:
        return False
    for d in range(ndim_of(a) - 1, -1, -1):
        if dims_of(a)[d] > 1 and strides_of(a)[d] != 0:
            if strides_of(a)[d] < last:
                return False
            last = strides_of(a)[d]
    return True


cdef PyObject *unary(Loops loops, Tensor x) except? NULL:
    cdef PyArrayObject *a
    cdef char *args[2]
    cdef npy_intp steps[2]
    cdef Operand operands[2]
    cdef int kind = x.scalar_type, result_type
    cdef object result
    if not has_loop(loops, x):
        return NULL
    a = <PyArrayObject *>x.array
    if not row_major(a):
        return NULL
    result_type = loops.result_type[kind]
    result = new_array(ndim_of(a), dims_of(a), number_of_scalar_type(result_type))
    if is_flat(a):
        args[0] = data_of(a)
        args[1] = data_of(<PyArrayObject *>result)
        steps[0] = item_size(kind)
        steps[1] = item_size(result_type)
        run_flat(loops, kind, args, size_of(a), steps, a, NULL)
    else:
        lay_out(&operands[0], a, ndim_of(a))
        lay_out(&operands[1], <PyArrayObject *>result, ndim_of(a))
        run_nd(loops, kind, 2, operands, ndim_of(a), dims_of(a))
    return steal(wrap_cpu(result, result_type))


cdef PyObject *unary_inplace(Loops loops, Tensor x) except? NULL:
    cdef PyArrayObject *a
    cdef char *args[2]
    cdef npy_intp steps[2]
    cdef int kind = x.scalar_type
    if not has_loop(loops, x) or loops.result_type[kind] != kind:
        return NULL
    a = <PyArrayObject *>x.array
    if not is_flat(a) or not flags_of(a) & cnp.NPY_ARRAY_WRITEABLE:
        return NULL
    args[0] = args[1] = data_of(a)
    steps[0] = steps[1] = item_size(kind)
    run_flat(loops, kind, args, size_of(a), steps, a, NULL)
    wrote(x)
    return steal(x)


cdef inline bint refuses(Loops loops, bint with_bool):
    """Whether the kernel has to say that bools are not subtracted."""
    return with_bool and loops.name == "subtract"


cdef enum Other:
    NEITHER
    NUMBER
    TENSOR


cdef inline Other read_other(Loops loops, Tensor x, IValue *other, char *number) noexcept:
    """A tensor of x's dtype; or a number, or a tensor without dimensions that promotes as one, written in that dtype."""
    cdef Tensor y
    if other.tag != TAG_OBJECT:
        return NEITHER if refuses(loops, other.tag == TAG_BOOL) or not store_number(x.scalar_type, other, number) else NUMBER
    if not isinstance(<object>other.v.o, Tensor):
        return NEITHER
    y = <Tensor>other.v.o
    if y.backend != BACKEND_CPU:
        return NEITHER
    if y.scalar_type == x.scalar_type:
        return TENSOR
    if ndim_of(<PyArrayObject *>y.array) != 0 or ndim_of(<PyArrayObject *>x.array) == 0:
        return NEITHER
    return NEITHER if refuses(loops, y.scalar_type == BOOL) or not store_element(x.scalar_type, y, number) else NUMBER


cdef PyObject *binary(Loops loops, Tensor x, IValue *other) except? NULL:
    cdef PyArrayObject *a
    cdef PyArrayObject *b = NULL
    cdef char *args[3]
    cdef npy_intp steps[3]
    cdef char number[16]
    cdef int kind = x.scalar_type, result_type
    cdef Other what
    cdef object result
    if not has_loop(loops, x):
        return NULL
    what = read_other(loops, x, other, number)
    if what == NEITHER:
        return NULL
    a = <PyArrayObject *>x.array
    result_type = loops.result_type[kind]
    steps[0] = item_size(kind)
    steps[2] = 1 if result_type == BOOL else steps[0]
    args[0] = data_of(a)
    if what == TENSOR:
        b = <PyArrayObject *>(<Tensor>other.v.o).array
        if not is_flat(a) or not is_flat(b) or not same_shape(a, b):
            return binary_nd(loops, x, <Tensor>other.v.o)
        args[1] = data_of(b)
        steps[1] = steps[0]
    elif is_flat(a):
        args[1] = number
        steps[1] = 0
    else:
        return NULL
    result = new_array(ndim_of(a), dims_of(a), number_of_scalar_type(result_type))
    args[2] = data_of(<PyArrayObject *>result)
    run_flat(loops, kind, args, size_of(a), steps, a, b)
    return steal(wrap_cpu(result, result_type))


cdef PyObject *binary_nd(Loops loops, Tensor x, Tensor y) except? NULL:
    """Operands of one dtype that broadcast against each other or have gaps."""
    cdef PyArrayObject *a = <PyArrayObject *>x.array
    cdef PyArrayObject *b = <PyArrayObject *>y.array
    cdef int ndim = max(ndim_of(a), ndim_of(b)), d
    cdef int kind = x.scalar_type
    cdef npy_intp shape[MOST_DIMS]
    cdef Operand operands[3]
    cdef object result
    if not row_major(a) or not row_major(b):
        return NULL
    for d in range(ndim):
        shape[d] = 1
    if not broadcast_into(shape, ndim, a) or not broadcast_into(shape, ndim, b):
        return NULL
    result = new_array(ndim, shape, number_of_scalar_type(loops.result_type[kind]))
    lay_out(&operands[0], a, ndim)
    lay_out(&operands[1], b, ndim)
    lay_out(&operands[2], <PyArrayObject *>result, ndim)
    run_nd(loops, kind, 3, operands, ndim, shape)
    return steal(wrap_cpu(result, loops.result_type[kind]))


cdef bint broadcast_into(npy_intp *shape, int ndim, PyArrayObject *a) noexcept nogil:
    """Widen `shape` by `a`'s; false where they do not fit (the general way raises)."""
    cdef int d, lead = ndim - ndim_of(a)
    cdef npy_intp length
    for d in range(ndim_of(a)):
        length = dims_of(a)[d]
        if length != 1:
            if shape[lead + d] != 1 and shape[lead + d] != length:
                return False
            shape[lead + d] = length
    return True


cdef void lay_out(Operand *operand, PyArrayObject *a, int ndim) noexcept nogil:
    """The operand's strides over the broadcast shape: 0 where it repeats."""
    cdef int d, lead = ndim - ndim_of(a)
    operand.array = a
    for d in range(lead):
        operand.strides[d] = 0
    for d in range(ndim_of(a)):
        operand.strides[lead + d] = 0 if dims_of(a)[d] == 1 else strides_of(a)[d]


cdef PyObject *binary_inplace(Loops loops, Tensor x, IValue *other) except? NULL:
    cdef PyArrayObject *a
    cdef PyArrayObject *b = NULL
    cdef char *args[3]
    cdef npy_intp steps[3]
    cdef char number[16]
    cdef Operand operands[3]
    cdef int kind = x.scalar_type, d, lead
    cdef Other what
    if not has_loop(loops, x) or loops.result_type[kind] != kind:
        return NULL
    a = <PyArrayObject *>x.array
    if not is_flat(a) or not flags_of(a) & cnp.NPY_ARRAY_WRITEABLE:
        return NULL
    what = read_other(loops, x, other, number)
    if what == NEITHER:
        return NULL
    args[0] = args[2] = data_of(a)
    steps[0] = steps[2] = item_size(kind)
    if what == NUMBER:
        args[1] = number
        steps[1] = 0
    else:
        b = <PyArrayObject *>(<Tensor>other.v.o).array
        args[1] = data_of(b)
        steps[1] = 0 if ndim_of(b) == 0 else steps[0]
        if a != b and meet(a, b):
            return NULL
        if a != b and ndim_of(b) != 0:
            lead = ndim_of(a) - ndim_of(b)
            if lead < 0 or not row_major(b):
                return NULL
            for d in range(ndim_of(b)):
                if dims_of(b)[d] != 1 and dims_of(b)[d] != dims_of(a)[lead + d]:
                    return NULL
            lay_out(&operands[0], a, ndim_of(a))
            lay_out(&operands[1], b, ndim_of(a))
            lay_out(&operands[2], a, ndim_of(a))
            run_nd(loops, kind, 3, operands, ndim_of(a), dims_of(a))
            wrote(x)
            return steal(x)
    run_flat(loops, kind, args, size_of(a), steps, a, b)
    wrote(x)
    return steal(x)
