"""Helpers of view operators on CPU tensors, which read an array and its geometry and store the view."""

from numpy cimport npy_intp
from libc.stdint cimport int64_t

from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, itemsize_of, ndim_of, strides_of
from ts._core.tensor.basic_indexing cimport strided_view
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.ivalue cimport IValue, set_object_steal
from ts.backends.cpu.kernels.kernel cimport is_tensor
from ts.backends.cpu.kernels.kernel_registry cimport View


cdef inline PyArrayObject *cpu_array(IValue *x) noexcept:
    """Return the array of a CPU tensor, with any strides, or NULL for other values."""
    if not is_tensor(x):
        return NULL
    cdef Tensor t = <Tensor>x.v.o
    return <PyArrayObject *>t.array if t.backend == BACKEND_CPU else NULL


cdef inline int store_view(IValue *out, Tensor x, int nd, npy_intp *dims, npy_intp *strides, npy_intp offset) except -1:
    set_object_steal(out, strided_view(x, <PyArrayObject *>x.array, nd, dims, strides, offset))
    return 0


cdef inline int copy_layout(PyArrayObject *a, npy_intp *dims, npy_intp *strides) noexcept:
    """Copy the shape and strides of an array, and return its number of dimensions."""
    cdef int i
    for i in range(ndim_of(a)):
        dims[i] = dims_of(a)[i]
        strides[i] = strides_of(a)[i]
    return ndim_of(a)


cdef inline int wrap_dim(int64_t dim, int nd) noexcept:
    """Return dimension `dim` of `nd` as a non-negative number, or -1 if it is out of range."""
    if dim < 0:
        dim += nd
    return <int>dim if 0 <= dim < nd else -1


cdef inline void init_view(View *v, PyArrayObject *a) noexcept:
    """Initialize a view with the geometry of array `a`."""
    v.nd = copy_layout(a, v.dims, v.strides)
    v.offset = 0
    v.item = itemsize_of(a)
