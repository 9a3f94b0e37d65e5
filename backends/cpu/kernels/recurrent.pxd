"""Layers of recurrent networks: what `recurrent.pyx` runs, for who runs one of them and keeps what its way back needs."""

cimport numpy as cnp
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport DOUBLE
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.kernel cimport new_flat

cdef enum:
    PACKED_FROM = 4                    # steps that pay for packing the weights
    LOOK = 100_000                     # nanoseconds that a step counts, where time is limited

cdef enum Cell:
    LSTM
    GRU
    TANH
    RELU


cdef class Weights:
    cdef object w_ih
    cdef object w_hh
    cdef object b_ih                   # or None
    cdef object b_hh
    cdef object w_hr
    cdef Packed packed_ih              # panels of w_ih's and w_hh's transposes, or None
    cdef Packed packed_hh
    cdef Cell kind
    cdef int dtype
    cdef npy_intp width                # of the cell

    cdef bint fit(self, npy_intp inputs, npy_intp hidden) noexcept
    cdef object new_gates(self, npy_intp rows)
    cdef bint give(self, object x, object gates) except -1
    cdef char *late_bias(self) noexcept


# The array of a weight, None for None; False for what is not taken here.
cdef object weight_at(IValue *x, int dtype)
# Weights in the order of a stack's list; None where one of them is not taken here.
cdef Weights weights_of(Cell kind, int dtype, list arrays, bint biased)
# The panels that are kept of a weight's transpose, for products of so many rows.
cdef Packed kept_at(IValue *x, npy_intp rows)
# A state of `nd` dimensions, copied; None where it is of another kind.
cdef object state_copy(object tensor, int dtype, int nd)
# Whether an array has so many rows and columns, or without columns so many elements; None has any shape.
cdef bint has_shape(object array, npy_intp rows, npy_intp columns) noexcept
# How many rows each time has: of packed ones, or (NULL) the whole batch; None: they do not fit.
cdef object sizes_of(IValue *packed, npy_intp times, npy_intp batch, npy_intp total)
# All times of one layer and direction; false where BLAS does not take the products.
cdef bint run_layer(
    Weights w, object x, object sizes, bint reverse, object hidden, object cell, char *out, npy_intp pitch, object given, char *cells
) except -1


cdef inline npy_intp item_size(int dtype) noexcept nogil:
    return 8 if dtype == DOUBLE else 4


cdef inline object turned(object matrix):
    return cnp.PyArray_Transpose(<cnp.ndarray>matrix, NULL)


cdef inline object new_matrix(npy_intp rows, npy_intp columns, int dtype):
    cdef npy_intp dims[2]
    dims[0], dims[1] = rows, columns
    return new_flat(2, dims, dtype)
