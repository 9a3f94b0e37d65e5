"""What random numbers are written to."""

from libc.stdint cimport int32_t

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.ivalue cimport IValue

# The array of a tensor to overwrite with numbers of the default stream; NULL for anything else.
cdef PyArrayObject *written(IValue *x, IValue *generator) noexcept
# The array that `..._like(x, dtype, layout, device, pin_memory, memory_format)` makes another of; NULL where a kernel cannot.
cdef PyArrayObject *read_like(IValue *r, const int32_t *at) noexcept
