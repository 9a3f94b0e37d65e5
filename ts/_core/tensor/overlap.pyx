"""Memory overlap detection (internal overlap, partial overlap) before writes, with PyTorch's errors.

The following calls write to overlapping memory and raise RuntimeError:

    x[0].expand(2, 3).add_(1)      more than one element of the written-to tensor ...
    y[1:].add_(y[:-1])             some elements of the input tensor and ...
"""

cimport numpy as cnp
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport data_of, dims_of, flags_of, ndim_of, size_of, strides_of

cnp.import_array()

cdef enum:
    NUMPY_MAX_DIMS = 64                          # maximal number of dimensions of a NumPy array
    IN_ORDER = cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_F_CONTIGUOUS

cdef str SEVERAL = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    "Please clone() the tensor before performing the operation."
)
cdef str SOME = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)


cdef bint has_internal_overlap(PyArrayObject *a) noexcept nogil:
    cdef int i
    if flags_of(a) & IN_ORDER:
        return False
    for i in range(ndim_of(a)):
        if strides_of(a)[i] == 0 and dims_of(a)[i] > 1:
            return True
    return False


cdef bint dense(PyArrayObject *a) noexcept nogil:
    """Return whether the elements fill a block of memory without gaps, for any order of dimensions."""
    cdef npy_intp step
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)
    cdef int i, n = ndim_of(a), left = 0
    cdef bint has_next
    if flags_of(a) & IN_ORDER:
        return True
    step = item
    for i in range(n):
        left += dims_of(a)[i] != 1
    # Find the dimensions from the innermost to the outermost. The stride of each dimension must equal the
    # number of bytes that the dimensions inside of it span.
    while left:
        has_next = False
        for i in range(n):
            if dims_of(a)[i] != 1 and strides_of(a)[i] == step:
                step *= dims_of(a)[i]
                left -= 1
                has_next = True
                break
        if not has_next:
            return False
    return True


cdef bint has_partial_overlap(PyArrayObject *a, PyArrayObject *b) noexcept nogil:
    cdef npy_intp length_a, length_b
    cdef char *start_a = data_of(a)
    cdef char *start_b = data_of(b)
    cdef int i
    length_a = size_of(a) * cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)
    length_b = size_of(b) * cnp.PyArray_ITEMSIZE(<cnp.ndarray>b)
    if start_a + length_a <= start_b or start_b + length_b <= start_a or a == b:
        return False
    if length_a == 0 or length_b == 0 or not dense(a) or not dense(b):
        return False
    if start_a != start_b or length_a != length_b or ndim_of(a) != ndim_of(b):
        return True
    for i in range(ndim_of(a)):
        if strides_of(a)[i] != strides_of(b)[i]:
            return True
    return False


cdef inline bint same(PyArrayObject *a, PyArrayObject *b) noexcept nogil:
    return data_of(a) == data_of(b) and size_of(b) == size_of(a)


cdef inline void reach(PyArrayObject *a, char **low, char **high) noexcept nogil:
    cdef int i
    cdef npy_intp step
    low[0] = data_of(a)
    high[0] = data_of(a) + cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)
    for i in range(ndim_of(a)):
        step = strides_of(a)[i] * (dims_of(a)[i] - 1)
        if step < 0:
            low[0] += step
        else:
            high[0] += step


cdef bint share_memory(PyArrayObject *a, PyArrayObject *b) noexcept nogil:
    cdef char *low_a
    cdef char *high_a
    cdef char *low_b
    cdef char *high_b
    if size_of(a) == 0 or size_of(b) == 0:
        return False
    reach(a, &low_a, &high_a)
    reach(b, &low_b, &high_b)
    return low_a < high_b and low_b < high_a


cdef int check_write(object target, list read, int rule) except -1:
    cdef PyArrayObject *a
    if not isinstance(target, cnp.ndarray):
        if rule in (RAISE_ON_OVERLAP, STRICT) and any([step == 0 and n > 1 for step, n in zip(target.strides, target.shape)]):
            raise RuntimeError(SEVERAL)
        return 0
    a = <PyArrayObject *>target
    if rule != ALLOW and has_internal_overlap(a):
        if rule != WARN:
            raise RuntimeError(SEVERAL)
        return 1
    for other in read:
        if isinstance(other, cnp.ndarray) and (
            has_partial_overlap(a, <PyArrayObject *>other) or rule in (STRICT, WARN) and same(a, <PyArrayObject *>other)
        ):
            raise RuntimeError(SOME)
    return 0


def check(target, list read not None, int rule=RAISE_ON_OVERLAP):
    """Raise RuntimeError if it is unsafe to write `target` while reading the arrays `read` (see `check_write`).

    With the rule WARN, return 1 if elements of `target` overlap each other. The caller then issues a warning.
    """
    return check_write(target, read, rule)
