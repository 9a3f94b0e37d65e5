"""Python kernels of operator records, called with Python values."""

from ts._core.dispatch.operator cimport Operator
from ts._core.tensor.tensor cimport Tensor

# Run the Python kernel of the operator's record.
cdef object run(Operator op, list args)
# Pointer, set by `profiler_recorder`, to the function that tells the profiler that an operator runs the Python
# kernel of its record on arrays of `backend`.
cdef int (*note_record)(Operator op, int backend) except -1
cpdef Tensor mark_as_view(Tensor result, object source)
