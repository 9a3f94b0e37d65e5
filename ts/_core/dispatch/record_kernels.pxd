"""Python kernels of operator records, called with Python values."""

from ts._core.dispatch.operator cimport Operator
from ts._core.tensor.tensor cimport Tensor

# Run the operator's Python kernel.
cdef object run(Operator op, list args)
# Pointer to a function that tells the profiler that an operator runs its Python kernel on arrays of
# `backend`. `profiler_recorder` sets the pointer.
cdef int (*note_record)(Operator op, int backend) except -1
cpdef Tensor mark_as_view(Tensor result, object source)
