"""Products of arrays, for kernels that are made of several."""

# alpha * a @ b + beta * summand as a new array in order, or None where BLAS does not compute that; stacks broadcast.
cdef object product(object a, object b, object summand, double alpha, double beta)
# x @ weight.T + bias, or None; the bias, which may be None, is a row of the result's length.
cdef object linear_product(object x, object weight, object bias)
