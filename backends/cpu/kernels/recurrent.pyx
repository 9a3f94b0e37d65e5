"""Recurrent neural networks (LSTM, GRU, RNN) on CPU tensors: cells, and stacks of layers over sequences.

Input: interpreter registers with a sequence, states and weights. Output: the registers of the output and of
the last states.

One matrix product computes the contribution of the input to the gates of all time steps. Each time step then
needs one product with the hidden state. For other arguments, the operator's Python kernel runs. The operators
are:

    lstm, gru, rnn_tanh, rnn_relu                        layers, for padded and packed sequences
    lstm_cell, gru_cell, rnn_tanh_cell, rnn_relu_cell    one time step
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.math cimport exp, tanh
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport (
    DOUBLE, FLOAT, INT64, RELEASE_GIL_FROM, PyArrayObject, data_of, dims_of, ndim_of, new_array, size_of
)
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.thread.deadline cimport charge_time, timed
from ts._core.value.container cimport List, list_slot
from ts._core.value.no_python_construction cimport seal
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT
from ts.backends.cpu.kernels cimport blas_thread_limit
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.kernel cimport contiguous_array_or_null, float_array, is_tensor, new_contiguous, set_result, read_number, scalar_type
from ts.backends.cpu.kernels.matmul cimport MIN_MULTIPLICATIONS_WITHOUT_GIL, Job, cached_panels_for_rows, make_job, multiply_into
from ts.backends.cpu.kernels.row_loops cimport RowLoops
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.vector_math cimport row_loops_here

cnp.import_array()

cdef const RowLoops *LOOPS = row_loops_here()

cdef inline npy_intp gate_count(Cell kind) noexcept nogil:
    return 4 if kind == LSTM else 3 if kind == GRU else 1


# ---------------------------------------------------------------- one time step

ctypedef fused floating:
    float
    double


cdef inline double sigmoid(double x) noexcept nogil:
    return 1 / (1 + exp(-x))


cdef void lstm_step(
    npy_intp rows, npy_intp n, const double *input_gates, const double *hidden_gates, double *cell, double *hidden, double *saved_gates
) noexcept nogil:
    cdef npy_intp i, row
    cdef double enter, forget, update, out
    for row in range(rows):
        for i in range(n):
            enter, forget = sigmoid(input_gates[i] + hidden_gates[i]), sigmoid(input_gates[n + i] + hidden_gates[n + i])
            update, out = tanh(input_gates[2 * n + i] + hidden_gates[2 * n + i]), sigmoid(input_gates[3 * n + i] + hidden_gates[3 * n + i])
            cell[i] = forget * cell[i] + enter * update
            hidden[i] = out * tanh(cell[i])
            if saved_gates != NULL:
                saved_gates[i], saved_gates[n + i], saved_gates[2 * n + i], saved_gates[3 * n + i] = enter, forget, update, out
        if saved_gates != NULL:
            saved_gates += 4 * n
        input_gates += 4 * n
        hidden_gates += 4 * n
        cell += n
        hidden += n


cdef void gru_step(
    npy_intp rows, npy_intp n, const double *input_gates, const double *hidden_gates, const double *bias, double *hidden
) noexcept nogil:
    cdef npy_intp i, row
    cdef double keep, candidate
    for row in range(rows):
        for i in range(n):
            candidate = hidden_gates[2 * n + i] + (0 if bias == NULL else bias[i])
            candidate = tanh(input_gates[2 * n + i] + sigmoid(input_gates[i] + hidden_gates[i]) * candidate)
            keep = sigmoid(input_gates[n + i] + hidden_gates[n + i])
            hidden[i] = (hidden[i] - candidate) * keep + candidate
        input_gates += 3 * n
        hidden_gates += 3 * n
        hidden += n


cdef void tanh_step(npy_intp n, const double *input_gates, const double *hidden_gates, double *hidden) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        hidden[i] = tanh(input_gates[i] + hidden_gates[i])


cdef void relu_step(npy_intp n, const floating *input_gates, const floating *hidden_gates, floating *hidden) noexcept nogil:
    cdef npy_intp i
    cdef floating x
    for i in range(n):
        x = input_gates[i] + hidden_gates[i]
        hidden[i] = 0 if x < 0 else x


cdef void step(
    Cell kind, bint double_, npy_intp rows, npy_intp n, const void *input_gates, const void *hidden_gates, const void *bias, void *cell,
    void *hidden, void *saved_gates
) noexcept nogil:
    """Update the state by one time step.

    `input_gates` has the contributions of the input to the gates, `hidden_gates` those of the hidden state.
    """
    if kind == LSTM and double_:
        lstm_step(rows, n, <const double *>input_gates, <const double *>hidden_gates, <double *>cell, <double *>hidden, <double *>saved_gates)
    elif kind == LSTM:
        LOOPS.lstm_step(
            rows, n, <const float *>input_gates, <const float *>hidden_gates, <float *>cell, <float *>hidden, <float *>saved_gates
        )
    elif kind == GRU and double_:
        gru_step(rows, n, <const double *>input_gates, <const double *>hidden_gates, <const double *>bias, <double *>hidden)
    elif kind == GRU:
        LOOPS.gru_step(rows, n, <const float *>input_gates, <const float *>hidden_gates, <const float *>bias, <float *>hidden)
    elif kind == TANH and double_:
        tanh_step(rows * n, <const double *>input_gates, <const double *>hidden_gates, <double *>hidden)
    elif kind == TANH:
        LOOPS.tanh_step(rows * n, <const float *>input_gates, <const float *>hidden_gates, <float *>hidden)
    elif double_:
        relu_step(rows * n, <const double *>input_gates, <const double *>hidden_gates, <double *>hidden)
    else:
        relu_step(rows * n, <const float *>input_gates, <const float *>hidden_gates, <float *>hidden)


# ---------------------------------------------------------------- one layer

cdef class Weights:
    """The weights of one layer and direction, whose shapes match each other."""

    cdef bint match_shapes(self, npy_intp inputs, npy_intp hidden) noexcept:
        """Set `width`.

        Return whether the weights match input rows of `inputs` elements and hidden states of `hidden`
        elements.
        """
        cdef PyArrayObject *w = <PyArrayObject *>self.w_hh
        if ndim_of(w) != 2 or dims_of(w)[0] % gate_count(self.kind):
            return False
        self.width = dims_of(w)[0] // gate_count(self.kind)
        if self.w_hr is None and self.width != hidden:
            return False
        return (
            self.width > 0 and inputs > 0 and hidden > 0
            and has_shape(self.w_hh, dims_of(w)[0], hidden) and has_shape(self.w_ih, dims_of(w)[0], inputs)
            and has_shape(self.b_ih, dims_of(w)[0], 0) and has_shape(self.b_hh, dims_of(w)[0], 0)
            and has_shape(self.w_hr, hidden, self.width)
        )

    cdef object new_gates(self, npy_intp rows):
        return new_matrix(rows, self.width * gate_count(self.kind), self.dtype)

    cdef bint compute_input_gates(self, object x, object gates) except -1:
        """Write the input's contributions to the gates, x @ w_ih.T plus the biases, to `gates`.

        The bias that `candidate_bias` returns is not added. Return False if the product is unsupported.
        """
        cdef bint biased = self.b_ih is not None or self.b_hh is not None
        cdef PyArrayObject *result = <PyArrayObject *>gates
        if biased and self.dtype == DOUBLE:
            fill[double](self, <double *>data_of(result), dims_of(result)[0], dims_of(result)[1])
        elif biased:
            fill[float](self, <float *>data_of(result), dims_of(result)[0], dims_of(result)[1])
        return multiply_into(x, transposed(self.w_ih), gates, 1, 1 if biased else 0, None, self.packed_ih, NULL, NULL)

    cdef char *candidate_bias(self) noexcept:
        """Return the GRU's bias that is multiplied by the reset gate, or NULL if there is no such bias."""
        if self.kind != GRU or self.b_hh is None:
            return NULL
        return data_of(<PyArrayObject *>self.b_hh) + 2 * self.width * item_size(self.dtype)


seal(Weights)


cdef void fill(Weights w, floating *out, npy_intp rows, npy_intp n) noexcept:
    """Fill each row of `out` with the sum of the biases b_ih and b_hh.

    The part of b_hh that `candidate_bias` returns is not added.
    """
    cdef npy_intp i, row
    cdef floating *first = NULL if w.b_ih is None else <floating *>data_of(<PyArrayObject *>w.b_ih)
    cdef floating *second = NULL if w.b_hh is None else <floating *>data_of(<PyArrayObject *>w.b_hh)
    for i in range(n):
        out[i] = 0 if first == NULL else first[i]
    if second != NULL:
        for i in range(2 * w.width if w.kind == GRU else n):
            out[i] += second[i]
    for row in range(1, rows):
        memcpy(out + row * n, out, n * sizeof(floating))


cdef bint has_shape(object array, npy_intp rows, npy_intp columns) noexcept:
    """Return whether `array` is None or has the shape (rows, columns).

    If `columns` is 0, the shape must be (rows,).
    """
    cdef PyArrayObject *a = <PyArrayObject *>array
    if array is None:
        return True
    if ndim_of(a) != (2 if columns else 1) or dims_of(a)[0] != rows:
        return False
    return columns == 0 or dims_of(a)[1] == columns


ctypedef struct Steps:
    # State of a layer's loop over time steps. The pointers have type `char *`, but refer to elements of the
    # layer's dtype. `length` and `pitch` are in bytes.
    Cell kind
    bint double_
    bint reverse
    npy_intp rows                      # batch size of the current time steps
    npy_intp row  # index of the first row of the next time step, or if `reverse`, of the row after its last row
    npy_intp width                     # number of elements of the cell state
    npy_intp gates
    char *input_gates                  # contribution of the input to the gates
    const char *hidden_gates           # contribution of the hidden state to the gates
    const char *bias
    char *cell
    char *raw  # output of the cell, which equals `hidden` unless there is a projection
    char *hidden                       # hidden state
    npy_intp length                    # size of a hidden state in bytes
    char *out
    npy_intp pitch
    char *cells  # in training, the cell states of all time steps (and `input_gates` keeps the activated gates), else NULL


cdef int finish_step(Steps *s, Job back) noexcept nogil:
    """Compute the rest of a time step, after the product of the hidden state and its weight.

    Return -1 if memory is exhausted.
    """
    cdef npy_intp size = 8 if s.double_ else 4
    if s.reverse:
        s.row -= s.rows
    cdef char *input_gates = s.input_gates + s.row * s.gates * size
    step(s.kind, s.double_, s.rows, s.width, input_gates, s.hidden_gates, s.bias, s.cell, s.raw, NULL if s.cells == NULL else input_gates)
    if s.cells != NULL:
        memcpy(s.cells + s.row * s.width * size, s.cell, s.rows * s.width * size)
    if back is not None and back.run_again() < 0:
        return -1
    copy_rows(s.hidden, s.rows, s.length, s.out + s.row * s.pitch, s.pitch)
    if not s.reverse:
        s.row += s.rows
    return 0


cdef int run_steps(Steps *s, Job share, Job back, npy_intp times) noexcept nogil:
    """Run `times` consecutive time steps with equal batch size. Return -1 if memory is exhausted."""
    cdef npy_intp k
    for k in range(times):
        if share.run_again() < 0 or finish_step(s, back) < 0:
            return -1
    return 0


cdef int run_steps_threaded(Steps *s, Job share, Job back, npy_intp times) except -1:
    """Run `times` consecutive time steps with equal batch size.

    If the product `share` has several partitions, several threads compute the products of each step.
    Otherwise, this thread runs all steps, and releases the GIL if there is enough work.
    """
    cdef double work = share.work() + 32.0 * s.rows * s.gates
    cdef npy_intp k
    cdef int done = 0
    if share.partition_count > 1:
        for k in range(times):
            share.run()
            with nogil:
                done = finish_step(s, back)
            if done < 0:
                break
    elif work * times >= MIN_MULTIPLICATIONS_WITHOUT_GIL:
        with nogil:
            done = run_steps(s, share, back, times)
    else:
        done = run_steps(s, share, back, times)
    if done < 0:
        raise MemoryError()
    return 0


cdef bint run_layer(
    Weights w, object x, object sizes, bint reverse, object hidden, object cell, char *out, npy_intp pitch, object input_gates, char *cells
) except -1:
    """Run all time steps of one layer and direction. Return False if the matrix products are unsupported.

    `x` has the rows of all time steps, `sizes` the batch size of each step. `hidden` and `cell` are updated
    in place to the last state. The other arguments are outputs:

    out            hidden states of all rows, whose rows are `pitch` elements apart
    input_gates    the input's contributions to the gates, or the activated gates if `cells` is not NULL
    cells          NULL, or the cell states of all rows
    """
    cdef npy_intp *count = <npy_intp *>data_of(<PyArrayObject *>sizes)
    cdef npy_intp times = size_of(<PyArrayObject *>sizes), total = dims_of(<PyArrayObject *>input_gates)[0], size = item_size(w.dtype)
    cdef npy_intp batch = dims_of(<PyArrayObject *>hidden)[0], gates = w.width * gate_count(w.kind), k = 0, n
    cdef object by = transposed(w.w_hh), hidden_gates = new_matrix(batch, gates, w.dtype), raw = hidden
    cdef Job share = None, back = None
    cdef bint limited
    cdef Steps s
    if not w.compute_input_gates(x, input_gates):
        return False
    if w.w_hr is not None:
        raw = new_matrix(batch, w.width, w.dtype)
    s.kind, s.double_, s.reverse, s.row = w.kind, w.dtype == DOUBLE, reverse, total if reverse else 0
    s.width, s.gates, s.length = w.width, gates, dims_of(<PyArrayObject *>hidden)[1] * size
    s.input_gates, s.hidden_gates, s.bias = data_of(<PyArrayObject *>input_gates), data_of(<PyArrayObject *>hidden_gates), w.candidate_bias()
    s.cell = NULL if cell is None else data_of(<PyArrayObject *>cell)
    s.raw, s.hidden = data_of(<PyArrayObject *>raw), data_of(<PyArrayObject *>hidden)
    s.out, s.pitch, s.cells = out, pitch * size, cells
    while k < times:
        if k == 0 or s.rows != count[times - 1 - k if reverse else k]:
            s.rows = count[times - 1 - k if reverse else k]
            share = make_job(hidden[:s.rows], by, hidden_gates[:s.rows])
            if share is not None and (times >= MIN_STEPS_TO_PACK or w.packed_hh is not None):
                w.packed_hh = share.pack(w.packed_hh)
            if w.w_hr is not None:
                back = make_job(raw[:s.rows], transposed(w.w_hr), hidden[:s.rows])
        if share is None or (back is None and w.w_hr is not None):
            return False
        n = 1
        if timed:
            charge_time(NANOSECONDS_PER_STEP)
        else:
            while k + n < times and count[times - 1 - k - n if reverse else k + n] == s.rows:
                n += 1
        limited = share.limited or (back is not None and back.limited)
        if limited:
            blas_thread_limit.begin()
        try:
            run_steps_threaded(&s, share, back, n)
        finally:
            if limited:
                blas_thread_limit.end()
        k += n
    return True


cdef void advance(Weights w, npy_intp rows, const char *input_gates, object hidden_gates, object cell, object hidden, bint without_gil) noexcept:
    """Update the state by one time step, without the GIL if `without_gil`."""
    cdef char *share = data_of(<PyArrayObject *>hidden_gates)
    cdef char *cells = NULL if cell is None else data_of(<PyArrayObject *>cell)
    cdef char *state = data_of(<PyArrayObject *>hidden)
    cdef char *bias = w.candidate_bias()
    cdef Cell kind = w.kind
    cdef bint double_ = w.dtype == DOUBLE
    cdef npy_intp width = w.width
    if without_gil:
        with nogil:
            step(kind, double_, rows, width, input_gates, share, bias, cells, state, NULL)
    else:
        step(kind, double_, rows, width, input_gates, share, bias, cells, state, NULL)


cdef inline void copy_rows(const char *x, npy_intp rows, npy_intp length, char *out, npy_intp pitch) noexcept nogil:
    cdef npy_intp row
    for row in range(rows):
        memcpy(out + row * pitch, x + row * length, length)


# ---------------------------------------------------------------- stacks of layers

cdef object read_weight(IValue *x, int dtype):
    """Return the array of a weight that is a contiguous CPU tensor of the dtype.

    Return None for None, and False for other values.
    """
    cdef PyArrayObject *a = float_array(x)
    if x.tag == TAG_NONE:
        return None
    return <object>a if a != NULL and scalar_type(x) == dtype else False


cdef Weights make_weights(Cell kind, int dtype, list arrays, bint biased):
    """Create the weights from arrays in the order of a layer's parameters.

    Return None if an array is unsupported.
    """
    cdef Weights w = Weights.__new__(Weights)
    w.kind, w.dtype = kind, dtype
    for each in arrays:
        if each is False:
            return None
    w.w_ih, w.w_hh = arrays[0], arrays[1]
    if w.w_ih is None or w.w_hh is None:
        return None
    if biased:
        w.b_ih, w.b_hh = arrays[2], arrays[3]
    if len(arrays) == (5 if biased else 3):
        w.w_hr = arrays[len(arrays) - 1]
    return w


cdef Packed cached_panels_of(IValue *x, npy_intp rows):
    """Return the cached packed transpose of a weight for products with `rows` rows, or None if it is not cached.

    The caller must not have a reference to the weight's array, because the cache would then return None.
    """
    return cached_panels_for_rows(rows, <Tensor>x.v.o, True) if is_tensor(x) else None


cdef inline object object_at(IValue *x):
    return <object>x.v.o if x.tag == TAG_OBJECT else None


cdef object copy_state(object tensor, int dtype, int nd):
    """Return a copy of a state with `nd` dimensions, or None for another rank, dtype or device."""
    cdef PyArrayObject *a
    if not isinstance(tensor, Tensor) or (<Tensor>tensor).backend != BACKEND_CPU or (<Tensor>tensor).scalar_type != dtype:
        return None
    a = <PyArrayObject *>(<Tensor>tensor).array
    return cnp.PyArray_NewCopy(<cnp.ndarray><object>a, cnp.NPY_CORDER) if ndim_of(a) == nd and size_of(a) else None


cdef tuple read_states(Cell kind, IValue *state, int dtype, int nd):
    """Return copies of the hidden state and, for an LSTM, of the cell state.

    Return None for unsupported states.
    """
    cdef object first = object_at(state), second = None, hidden, cell
    cdef int d
    if kind == LSTM:
        if type(first) is not List or (<List>first).size < 2:
            return None
        first, second = object_at(list_slot(<PyObject *>first, 0)), object_at(list_slot(<PyObject *>first, 1))
    hidden = copy_state(first, dtype, nd)
    cell = copy_state(second, dtype, nd) if kind == LSTM else None
    if hidden is None or (cell is None and kind == LSTM):
        return None
    for d in range(nd - 1 if kind == LSTM else 0):
        if dims_of(<PyArrayObject *>hidden)[d] != dims_of(<PyArrayObject *>cell)[d]:
            return None
    return hidden, cell


cdef object read_batch_sizes(IValue *packed, npy_intp times, npy_intp batch, npy_intp total):
    """Return the batch size of each time step as a new array.

    Return None if the batch sizes contradict `batch`, the first batch size, or `total`, the number of all
    rows.
    """
    cdef npy_intp t, rows, row_count = 0
    cdef PyArrayObject *a = NULL
    cdef npy_intp *count
    cdef object result
    if packed != NULL:
        a = contiguous_array_or_null(packed)
        if a == NULL or scalar_type(packed) != INT64 or ndim_of(a) != 1:
            return None
        times = size_of(a)
    if times == 0:
        return None
    result = new_array(1, &times, cnp.NPY_INTP)
    count = <npy_intp *>data_of(<PyArrayObject *>result)
    for t in range(times):
        rows = batch if packed == NULL else (<int64_t *>data_of(a))[t]
        if not 0 < rows <= batch:
            return None
        count[t] = rows
        row_count += rows
    return result if row_count == total else None


cdef int run_stack(Operator op, IValue *r, const int32_t *at, Cell kind, bint packed) except -1:
    """Run a stack of layers.

    The first arguments are (input, state), or (data, batch_sizes, state) if `packed`. The weights and options
    follow.
    """
    cdef int options = 3 if packed else 2
    cdef bint biased = r[at[options + 1]].v.i != 0, batch_first = not packed and r[at[options + 6]].v.i != 0
    cdef int64_t layers = r[at[options + 2]].v.i
    cdef npy_intp directions = 2 if r[at[options + 5]].v.i else 1, slabs, total, batch, inputs, width, weights_per_layer, i
    cdef npy_intp dims[3]
    cdef double dropout
    cdef PyArrayObject *a
    cdef int dtype, nd = 2 if packed else 3
    cdef list weights, panels
    cdef Weights w
    cdef object x, hidden, cell, sizes, out = None
    if not is_tensor(&r[at[0]]) or (<Tensor>r[at[0]].v.o).backend != BACKEND_CPU:
        return UNSUPPORTED
    dtype = scalar_type(&r[at[0]])
    x = (<Tensor>r[at[0]].v.o).array
    if batch_first and cnp.PyArray_NDIM(<cnp.ndarray>x) == 3:
        x = x.swapaxes(0, 1)
    a = <PyArrayObject *>x
    total = size_of(a) // max(dims_of(a)[nd - 1], <npy_intp>1) if ndim_of(a) == nd else 1
    panels = cached_panels(object_at(&r[at[options]]), layers * directions, total, state_batch_size(kind, &r[at[options - 1]]))
    weights = read_weights(object_at(&r[at[options]]), dtype)
    states = read_states(kind, &r[at[options - 1]], dtype, 3)
    if (
        (dtype != FLOAT and dtype != DOUBLE) or ndim_of(a) != nd or size_of(a) == 0 or weights is None or states is None
        or not 0 < layers <= len(weights) or not read_number(&r[at[options + 3]], dtype, &dropout)
        or (dropout != 0 and r[at[options + 4]].v.i and layers > 1)
    ):
        return UNSUPPORTED
    slabs = layers * directions
    weights_per_layer = len(weights) // slabs
    hidden, cell = states
    batch, width = dims_of(<PyArrayObject *>hidden)[1], dims_of(<PyArrayObject *>hidden)[2]
    dims[0], dims[1] = dims_of(a)[0], dims_of(a)[1]
    inputs, total = dims_of(a)[nd - 1], dims[0] * (1 if packed else dims[1])
    sizes = read_batch_sizes(&r[at[1]] if packed else NULL, dims[0], batch, total)
    if (
        sizes is None or len(weights) != weights_per_layer * slabs or dims_of(<PyArrayObject *>hidden)[0] != slabs
        or (weights_per_layer != (4 if biased else 2) and (kind != LSTM or weights_per_layer != (5 if biased else 3)))
    ):
        return UNSUPPORTED
    x = cnp.PyArray_GETCONTIGUOUS(<cnp.ndarray>x).reshape(total, inputs)
    for i in range(slabs):
        if i % directions == 0:
            if i:
                x, inputs = out, width * directions
            dims[nd - 1] = width * directions
            out = new_contiguous(nd, dims, dtype) if i + directions == slabs else new_matrix(total, width * directions, dtype)
        w = make_weights(kind, dtype, weights[i * weights_per_layer:(i + 1) * weights_per_layer], biased)
        if w is not None:
            w.packed_ih, w.packed_hh = panels[2 * i], panels[2 * i + 1]
        own = None if cell is None else cell[i]
        if w is None or not w.match_shapes(inputs, width) or not has_shape(own, batch, w.width) or not run_layer(
            w, x, sizes, i % directions == 1, hidden[i], own,
            data_of(<PyArrayObject *>out) + i % directions * width * item_size(dtype), width * directions, w.new_gates(total), NULL
        ):
            return UNSUPPORTED
    set_result(&r[at[op.nargs]], out.swapaxes(0, 1) if batch_first else out, dtype)
    set_result(&r[at[op.nargs + 1]], hidden, dtype)
    if kind == LSTM:
        set_result(&r[at[op.nargs + 2]], cell, dtype)
    return 0


cdef list read_weights(object params, int dtype):
    """Return `read_weight(x)` for each weight `x` of a list, or None for other values."""
    cdef list arrays = []
    cdef Py_ssize_t i = 0
    if type(params) is not List:
        return None
    while i < (<List>params).size:
        arrays.append(read_weight(list_slot(<PyObject *>params, i), dtype))
        i += 1
    return arrays


cdef list cached_panels(object params, int64_t slabs, npy_intp total, npy_intp batch):
    """Return the cached packed weights w_ih and w_hh for each of the `slabs` layers and directions.

    Return None if `params` is not a list with the weights of all layers.
    """
    cdef Py_ssize_t i, weights_per_layer
    cdef list panels = []
    if type(params) is not List or not 0 < slabs <= (<List>params).size // 2:
        return None
    weights_per_layer = (<List>params).size // slabs
    for i in range(slabs):
        panels.append(cached_panels_of(list_slot(<PyObject *>params, i * weights_per_layer), total))
        panels.append(cached_panels_of(list_slot(<PyObject *>params, i * weights_per_layer + 1), batch))
    return panels


cdef npy_intp state_batch_size(Cell kind, IValue *state):
    """Return the batch size of the initial hidden state, or 1 if the state is unsupported."""
    cdef object first = object_at(state)
    cdef PyArrayObject *a
    if kind == LSTM:
        first = object_at(list_slot(<PyObject *>first, 0)) if type(first) is List and (<List>first).size else None
    if not isinstance(first, Tensor) or (<Tensor>first).backend != BACKEND_CPU:
        return 1
    a = <PyArrayObject *>(<Tensor>first).array
    return dims_of(a)[1] if ndim_of(a) == 3 else 1


cdef int lstm(Operator op, IValue *r, const int32_t *at) except -1:
    return run_stack(op, r, at, LSTM, False)


cdef int gru(Operator op, IValue *r, const int32_t *at) except -1:
    return run_stack(op, r, at, GRU, False)


cdef int rnn_tanh(Operator op, IValue *r, const int32_t *at) except -1:
    return run_stack(op, r, at, TANH, False)


cdef int rnn_relu(Operator op, IValue *r, const int32_t *at) except -1:
    return run_stack(op, r, at, RELU, False)


cdef int packed_lstm(Operator op, IValue *r, const int32_t *at) except -1:
    return run_stack(op, r, at, LSTM, True)


cdef int packed_gru(Operator op, IValue *r, const int32_t *at) except -1:
    return run_stack(op, r, at, GRU, True)


cdef int packed_rnn_tanh(Operator op, IValue *r, const int32_t *at) except -1:
    return run_stack(op, r, at, TANH, True)


cdef int packed_rnn_relu(Operator op, IValue *r, const int32_t *at) except -1:
    return run_stack(op, r, at, RELU, True)


# ---------------------------------------------------------------- cells, for one time step

cdef int run_cell(Operator op, IValue *r, const int32_t *at, Cell kind) except -1:
    """Run a recurrent cell with the arguments (input, state, w_ih, w_hh, b_ih, b_hh)."""
    cdef PyArrayObject *a
    cdef Weights w
    cdef npy_intp rows, width
    cdef int dtype, i
    cdef object x, hidden, cell, input_gates, hidden_gates
    cdef Packed packed_ih = None, packed_hh = None
    if not is_tensor(&r[at[0]]) or (<Tensor>r[at[0]].v.o).backend != BACKEND_CPU:
        return UNSUPPORTED
    dtype = scalar_type(&r[at[0]])
    x = (<Tensor>r[at[0]].v.o).array
    a = <PyArrayObject *>x
    states = read_states(kind, &r[at[1]], dtype, 2)
    if cnp.PyArray_NDIM(<cnp.ndarray>x) == 2:
        packed_ih, packed_hh = cached_panels_of(&r[at[2]], dims_of(a)[0]), cached_panels_of(&r[at[3]], dims_of(a)[0])
    w = make_weights(kind, dtype, [read_weight(&r[at[i]], dtype) for i in range(2, 6)], True)
    if (dtype != FLOAT and dtype != DOUBLE) or ndim_of(a) != 2 or size_of(a) == 0 or states is None or w is None:
        return UNSUPPORTED
    hidden, cell = states
    w.packed_ih, w.packed_hh = packed_ih, packed_hh
    rows, width = dims_of(a)[0], dims_of(<PyArrayObject *>hidden)[1]
    if not w.match_shapes(dims_of(a)[1], width) or not has_shape(hidden, rows, w.width) or not has_shape(cell, rows, w.width):
        return UNSUPPORTED
    input_gates, hidden_gates = w.new_gates(rows), w.new_gates(rows)
    if not w.compute_input_gates(x, input_gates) or not multiply_into(hidden, transposed(w.w_hh), hidden_gates, 1, 0, None, w.packed_hh, NULL, NULL):
        return UNSUPPORTED
    advance(w, rows, data_of(<PyArrayObject *>input_gates), hidden_gates, cell, hidden, rows * w.width * gate_count(kind) >= RELEASE_GIL_FROM)
    set_result(&r[at[op.nargs]], hidden, dtype)
    if kind == LSTM:
        set_result(&r[at[op.nargs + 1]], cell, dtype)
    return 0


cdef int lstm_cell(Operator op, IValue *r, const int32_t *at) except -1:
    return run_cell(op, r, at, LSTM)


cdef int gru_cell(Operator op, IValue *r, const int32_t *at) except -1:
    return run_cell(op, r, at, GRU)


cdef int rnn_tanh_cell(Operator op, IValue *r, const int32_t *at) except -1:
    return run_cell(op, r, at, TANH)


cdef int rnn_relu_cell(Operator op, IValue *r, const int32_t *at) except -1:
    return run_cell(op, r, at, RELU)


register_kernel("aten::lstm.input", lstm)
register_kernel("aten::gru.input", gru)
register_kernel("aten::rnn_tanh.input", rnn_tanh)
register_kernel("aten::rnn_relu.input", rnn_relu)
register_kernel("aten::lstm.data", packed_lstm)
register_kernel("aten::gru.data", packed_gru)
register_kernel("aten::rnn_tanh.data", packed_rnn_tanh)
register_kernel("aten::rnn_relu.data", packed_rnn_relu)
register_kernel("aten::lstm_cell", lstm_cell)
register_kernel("aten::gru_cell", gru_cell)
register_kernel("aten::rnn_tanh_cell", rnn_tanh_cell)
register_kernel("aten::rnn_relu_cell", rnn_relu_cell)
