"""Iteration of inner loops over strided and broadcast operands, with dimension coalescing.

`tensor_iterator.pxd` describes the use of the functions.
"""

cimport numpy as cnp
from cpython.exc cimport PyErr_Occurred
from cpython.object cimport PyObject, PyTypeObject

from libc.stdint cimport int8_t
from libc.string cimport memcpy

from ts._core.tensor.ndarray cimport data_of, dims_of, flags_of, ndim_of, size_of, strides_of
from ts._core.tensor.scalar_types cimport number_of_scalar_type
from ts.backends.cpu.kernels.gil cimport ReleasedGil, release_gil_for_arrays, take_gil
from ts.backends.cpu.kernels.parallel_for cimport VECTOR_BLOCK_ELEMENTS, parallel_for, partition_count, partition_start
from ts.backends.cpu.kernels.unaligned_types cimport eight_bytes, element, four_bytes, two_bytes

cdef extern from "numpy/arrayobject.h":
    # PyArray_New with a NULL data pointer allocates an array with the given strides, or in C order if
    # `strides` is NULL.
    object new_strided "PyArray_New"(
        PyTypeObject *, int, const npy_intp *, int, const npy_intp *, void *, int, int, PyObject *
    )

cnp.import_array()

cdef enum:
    MIN_INNER_LENGTH = 8  # minimal length of the innermost dimension. If it is shorter, the longest dimension becomes the innermost.
    # Larger arrays are copied by NumPy, which is faster because it copies blocks that fit in the cache.
    MAX_COPIED_ELEMENTS = 1 << 16

# Value of `data` that identifies copy loops. Unlike other unary loops, a copy loop need not have a contiguous
# result, so any dimension can become the innermost.
cdef void *COPY_LOOP_MARKER = <void *>&copy_loop

cdef PyTypeObject *array_type = <PyTypeObject *>cnp.ndarray


cdef bint broadcast_into(npy_intp *shape, int ndim, PyArrayObject *a) noexcept nogil:
    cdef int d, lead = ndim - ndim_of(a)
    cdef npy_intp length
    for d in range(ndim_of(a)):
        length = dims_of(a)[d]
        if length != 1:
            if shape[lead + d] != 1 and shape[lead + d] != length:
                return False
            shape[lead + d] = length
    return True


cdef void set_operand_strides(Operand *operand, PyArrayObject *a, int ndim, npy_intp *shape) noexcept nogil:
    cdef int d, lead = ndim - ndim_of(a)
    operand.array = a
    operand.data = data_of(a)
    for d in range(lead):
        operand.strides[d] = 0
    for d in range(ndim_of(a)):
        operand.strides[lead + d] = 0 if dims_of(a)[d] == 1 != shape[lead + d] else strides_of(a)[d]


cdef void set_scalar_operand(Operand *operand, char *scalar_bytes, int ndim) noexcept nogil:
    cdef int d
    operand.array = NULL
    operand.data = scalar_bytes
    for d in range(ndim):
        operand.strides[d] = 0


cdef int compare_dimensions(Operand *operands, int count, npy_intp *shape, int a, int b) noexcept nogil:
    """Compare two dimensions: return 1 if `a` must be outer to `b`, -1 if `b` must be outer, else 0.

    The dimension with the larger stride is outer. Strides of 0 are ignored. For equal strides, the dimension
    with the larger size is outer.
    """
    cdef npy_intp first, second
    cdef int k
    for k in range(count):
        first, second = operands[k].strides[a], operands[k].strides[b]
        if first == 0 or second == 0:
            continue
        if first != second:
            return 1 if first > second else -1
        if shape[a] > shape[b]:
            return 1
    return 0


cdef bint sort_dims_by_stride(Operand *operands, int count, int ndim, npy_intp *shape, int *order) noexcept nogil:
    cdef npy_intp before[MAX_DIMS]
    cdef int i, j, at, swap, k
    cdef bint changed = False
    for i in range(ndim):
        order[i] = i
    # Insertion sort, which starts with the innermost dimension and proceeds outwards. A dimension whose
    # stride is 0 in every operand keeps its place.
    for i in range(ndim - 2, -1, -1):
        at = i
        for j in range(i + 1, ndim):
            swap = compare_dimensions(operands, count, shape, order[j], order[at])
            if swap > 0:
                order[j], order[at] = order[at], order[j]
                at = j
                changed = True
            elif swap < 0:
                break
    if not changed:
        return False
    for i in range(ndim):
        before[i] = shape[i]
    for i in range(ndim):
        shape[i] = before[order[i]]
    for k in range(count):
        for i in range(ndim):
            before[i] = operands[k].strides[i]
        for i in range(ndim):
            operands[k].strides[i] = before[order[i]]
    return True


cdef object new_result(Operand *operands, int count, int ndim, npy_intp *shape, int kind):
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp strides[MAX_DIMS]
    cdef int order[MAX_DIMS]
    cdef int d, type_number = number_of_scalar_type(kind)
    cdef npy_intp stride
    cdef object output
    cdef Operand *result = &operands[count]
    if sort_dims_by_stride(operands, count, ndim, shape, order):
        stride = cnp.PyArray_DescrFromType(type_number).itemsize
        for d in range(ndim - 1, -1, -1):
            dims[order[d]] = shape[d]
            strides[order[d]] = result.strides[d] = stride
            stride *= max(shape[d], <npy_intp>1)
        output = new_strided(array_type, ndim, dims, type_number, strides, NULL, 0, 0, NULL)
    else:
        output = new_strided(array_type, ndim, shape, type_number, NULL, NULL, 0, 0, NULL)
        for d in range(ndim):
            result.strides[d] = strides_of(<PyArrayObject *>output)[d]
    result.array = <PyArrayObject *>output
    result.data = data_of(result.array)
    return output


cdef void move_longest_inside(Operand *operands, int count, npy_intp *dims, int n) noexcept nogil:
    """Swap the longest dimension with the last dimension.

    The inner loop runs along the last dimension, and is called less often if this dimension is long.
    """
    cdef int d, k, longest = n - 1
    for d in range(n - 1):
        if dims[d] > dims[longest]:
            longest = d
    dims[longest], dims[n - 1] = dims[n - 1], dims[longest]
    for k in range(count):
        operands[k].strides[longest], operands[k].strides[n - 1] = operands[k].strides[n - 1], operands[k].strides[longest]


cdef struct Iteration:                 # a loop over several dimensions, without dimensions that could be merged
    Loop function
    void *loop_data
    Plane plane                        # or NULL
    int operand_count
    int n                              # number of dimensions
    npy_intp dims[MAX_DIMS]
    char *data[MAX_OPERANDS]
    npy_intp strides[MAX_OPERANDS][MAX_DIMS]
    int divided                        # dimension along which the elements are divided among threads


cdef int iterate_operands(
    Loop function, void *data, Operand *operands, int count, int ndim, npy_intp *shape, Plane plane=NULL, double cost=1
) except -1:
    cdef Iteration iteration
    cdef npy_intp *dims = iteration.dims
    cdef npy_intp total = 1
    cdef int d, k, n = 0
    cdef bint mergeable
    cdef ReleasedGil gil_state
    # Drop dimensions of size 1. Merge two adjacent dimensions if every operand can traverse both with a
    # single stride.
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
    if dims[n - 1] < MIN_INNER_LENGTH and (count > 2 or data == COPY_LOOP_MARKER):
        move_longest_inside(operands, count, dims, n)
    iteration.function, iteration.loop_data, iteration.plane = function, data, plane
    iteration.operand_count, iteration.n = count, n
    for k in range(count):
        iteration.data[k] = operands[k].data
        for d in range(n):
            iteration.strides[k][d] = operands[k].strides[d]
    for d in range(n):
        total *= dims[d]
    gil_state = release_gil_for_arrays(total, operands[0].array, operands[1].array)
    run_on_threads(&iteration, total, cost)
    take_gil(gil_state)
    return -1 if PyErr_Occurred() else 0


cdef void run_on_threads(Iteration *iteration, npy_intp total, double cost) noexcept nogil:
    cdef Py_ssize_t partitions = partition_count(total * cost)
    cdef int d, divided = iteration.n - 1
    cdef npy_intp units = iteration.dims[divided] // VECTOR_BLOCK_ELEMENTS
    # Divide the outer dimension with the largest size, or the innermost one if it has more blocks.
    for d in range(iteration.n - 1):
        if iteration.dims[d] > units:
            divided, units = d, iteration.dims[d]
    iteration.divided = divided
    partitions = min(partitions, units)
    if partitions > 1:
        parallel_for(run_iteration_partition, iteration, partitions)
    else:
        run_iteration(iteration)


cdef int run_iteration_partition(void *context, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    """Run the loop on a partition's consecutive range of indices of the divided dimension."""
    cdef Iteration iteration = (<Iteration *>context)[0]
    cdef int divided = iteration.divided, k
    cdef npy_intp size = iteration.dims[divided], block = VECTOR_BLOCK_ELEMENTS if divided == iteration.n - 1 else 1
    cdef npy_intp start = partition_start(size, partition, partition_count, block)
    iteration.dims[divided] = partition_start(size, partition + 1, partition_count, block) - start
    for k in range(iteration.operand_count):
        iteration.data[k] += start * iteration.strides[k][divided]
    if iteration.dims[divided]:
        run_iteration(&iteration)
    return 0


cdef void run_iteration(Iteration *iteration) noexcept nogil:
    """Run the loop on all elements on this thread."""
    cdef npy_intp index[MAX_DIMS]
    cdef npy_intp steps[MAX_OPERANDS]
    cdef char *args[MAX_OPERANDS]
    cdef npy_intp outer[MAX_OPERANDS]
    cdef char *at[MAX_OPERANDS]
    cdef int d, k, n = iteration.n, count = iteration.operand_count
    cdef int first = n - 1             # first dimension of a loop call: the last, or with `plane` the last but one
    cdef npy_intp *dims = iteration.dims
    for k in range(count):
        at[k] = iteration.data[k]
        steps[k] = iteration.strides[k][n - 1]
    for d in range(n):
        index[d] = 0
    if iteration.plane != NULL and n > 1:
        for k in range(count):
            outer[k] = iteration.strides[k][n - 2]
        first = n - 2
    while True:
        for k in range(count):
            args[k] = at[k]
        if first == n - 1 or not iteration.plane(args, &dims[n - 2], outer, steps):
            iteration.function(args, &dims[n - 1], steps, iteration.loop_data)
            first = n - 1
        d = first - 1
        while d >= 0:
            index[d] += 1
            for k in range(count):
                at[k] += iteration.strides[k][d]
            if index[d] < dims[d]:
                break
            for k in range(count):
                at[k] -= iteration.strides[k][d] * dims[d]
            index[d] = 0
            d -= 1
        if d < 0:
            break


cdef struct LoopCall:                  # a call of a loop that is divided among threads
    Loop function
    void *data
    char **args
    const npy_intp *strides
    int operand_count
    npy_intp n


cdef void run_loop(Loop function, void *data, char **args, int operand_count, npy_intp n, const npy_intp *strides, double cost) noexcept nogil:
    cdef LoopCall call
    cdef Py_ssize_t partitions = partition_count(n * cost)
    if partitions <= 1:
        function(args, &n, strides, data)
        return
    call.function, call.data, call.args, call.strides, call.operand_count, call.n = function, data, args, strides, operand_count, n
    parallel_for(run_loop_partition, &call, partitions)


cdef int run_loop_partition(void *context, Py_ssize_t partition, Py_ssize_t partition_count) noexcept nogil:
    """Call the loop for a partition's consecutive range of elements."""
    cdef LoopCall *call = <LoopCall *>context
    cdef char *args[MAX_OPERANDS]
    cdef npy_intp start = partition_start(call.n, partition, partition_count, VECTOR_BLOCK_ELEMENTS)
    cdef npy_intp count = partition_start(call.n, partition + 1, partition_count, VECTOR_BLOCK_ELEMENTS) - start
    cdef int k
    for k in range(call.operand_count):
        args[k] = call.args[k] + start * call.strides[k]
    if count:
        call.function(args, &count, call.strides, call.data)
    return 0


# ---------------------------------------------------------------- copies

cdef void copy_strided(char **args, npy_intp n, npy_intp from_stride, npy_intp to_stride, element of_width) noexcept nogil:
    cdef char *x = args[0]
    cdef char *y = args[1]
    cdef npy_intp i
    if from_stride == sizeof(element) and to_stride == sizeof(element):
        memcpy(y, x, n * sizeof(element))
    elif to_stride == sizeof(element):
        for i in range(n):
            (<element *>y)[i] = (<element *>(x + i * from_stride))[0]
    else:
        for i in range(n):
            (<element *>(y + i * to_stride))[0] = (<element *>(x + i * from_stride))[0]


cdef void copy_1(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    copy_strided[int8_t](a, n[0], s[0], s[1], 0)

cdef void copy_2(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    copy_strided[two_bytes](a, n[0], s[0], s[1], 0)

cdef void copy_4(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    copy_strided[four_bytes](a, n[0], s[0], s[1], 0)

cdef void copy_8(char **a, const npy_intp *n, const npy_intp *s, void *d) noexcept nogil:
    copy_strided[eight_bytes](a, n[0], s[0], s[1], 0)


cdef Loop copy_loop(npy_intp width) noexcept nogil:
    """Return the copy loop for elements of `width` bytes, or NULL if there is none."""
    if width == 4:
        return copy_4
    if width == 8:
        return copy_8
    if width == 2:
        return copy_2
    if width == 1:
        return copy_1
    return NULL


cdef object contiguous_copy(PyArrayObject *a):
    cdef Loop loop = copy_loop(cnp.PyArray_ITEMSIZE(<cnp.ndarray>a))
    cdef npy_intp shape[MAX_DIMS]
    cdef Operand operands[2]
    cdef object result
    cdef int d, nd = ndim_of(a)
    if loop == NULL or size_of(a) > MAX_COPIED_ELEMENTS or not flags_of(a) & cnp.NPY_ARRAY_ALIGNED:
        return cnp.PyArray_NewCopy(<cnp.ndarray>a, cnp.NPY_CORDER)
    result = new_strided(array_type, nd, dims_of(a), cnp.PyArray_TYPE(<cnp.ndarray>a), NULL, NULL, 0, 0, NULL)
    for d in range(nd):
        shape[d] = dims_of(a)[d]
    set_operand_strides(&operands[0], a, nd, shape)
    set_operand_strides(&operands[1], <PyArrayObject *>result, nd, shape)
    iterate_operands(loop, COPY_LOOP_MARKER, operands, 2, nd, shape)
    return result
