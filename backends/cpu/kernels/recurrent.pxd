"""Forward pass of recurrent layers, shared by `recurrent.pyx` and `lstm_layer.pyx`."""

cimport numpy as cnp
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport DOUBLE
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.kernel cimport new_contiguous

cdef enum:
    MIN_STEPS_TO_PACK = 4              # minimal number of time steps for which the weights are packed
    NANOSECONDS_PER_STEP = 100_000     # time that each time step of the layer adds to the used time of `ts.limits`

cdef enum Cell:
    LSTM
    GRU
    TANH
    RELU


cdef class Weights:
    cdef object w_ih
    cdef object w_hh
    cdef object b_ih                   # None if the layer has no bias
    cdef object b_hh
    cdef object w_hr
    cdef Packed packed_ih              # packed transpose of w_ih, or None
    cdef Packed packed_hh              # packed transpose of w_hh, or None
    cdef Cell kind
    cdef int dtype
    cdef npy_intp width                # number of elements of the cell state

    cdef bint match_shapes(self, npy_intp inputs, npy_intp hidden) noexcept
    cdef object new_gates(self, npy_intp rows)
    cdef bint compute_input_gates(self, object x, object gates) except -1
    cdef char *candidate_bias(self) noexcept


# Return the array of a weight if it is a contiguous CPU tensor of dtype `dtype`. Return None if the weight is
# None, and False if it is unsupported.
cdef object read_weight(IValue *x, int dtype)
# Create the `Weights` from arrays in the order of a layer's parameters. Return None if an array is
# unsupported.
cdef Weights make_weights(Cell kind, int dtype, list arrays, bint biased)
# Return the cached packed transpose of a weight, or None if there is none. The packed transpose is for
# products whose left operand has `rows` rows.
cdef Packed cached_panels_of(IValue *x, npy_intp rows)
# Return a copy of an initial state, or None if the state is not a CPU tensor with `nd` dimensions and dtype
# `dtype`.
cdef object copy_state(object tensor, int dtype, int nd)
# Return whether an array has the shape (rows, columns), or (rows,) if `columns` is 0. Return True for None.
cdef bint has_shape(object array, npy_intp rows, npy_intp columns) noexcept
# Return the batch size of each time step. If `packed` is a tensor (`batch_sizes` of a packed sequence), the
# sizes are its elements. If `packed` is NULL, each of `times` steps has the batch size `batch`. Return None
# if a size exceeds `batch`, or the sum of the sizes is not `total`.
cdef object read_batch_sizes(IValue *packed, npy_intp times, npy_intp batch, npy_intp total)
# Run all time steps of one layer and direction. Return False if the matrix products are unsupported.
cdef bint run_layer(
    Weights w, object x, object sizes, bint reverse, object hidden, object cell, char *out, npy_intp pitch, object input_gates, char *cells
) except -1


cdef inline npy_intp item_size(int dtype) noexcept nogil:
    return 8 if dtype == DOUBLE else 4


cdef inline object transposed(object matrix):
    return cnp.PyArray_Transpose(<cnp.ndarray>matrix, NULL)


cdef inline object new_matrix(npy_intp rows, npy_intp columns, int dtype):
    cdef npy_intp dims[2]
    dims[0], dims[1] = rows, columns
    return new_contiguous(2, dims, dtype)
