"""Arguments of kernels that read float32 and float64 tensors with any strides."""

cimport numpy as cnp

from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, PyArrayObject, flags_of, size_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel cimport is_tensor, scalar_type


cdef inline PyArrayObject *aligned_float_array(IValue *x) noexcept:
    """Return the array of `x` if it is an aligned, non-empty float32 or float64 CPU tensor, else NULL."""
    cdef PyArrayObject *a
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU:
        return NULL
    if scalar_type(x) != FLOAT and scalar_type(x) != DOUBLE:
        return NULL
    a = <PyArrayObject *>(<Tensor>x.v.o).array
    return a if size_of(a) and flags_of(a) & cnp.NPY_ARRAY_ALIGNED else NULL
