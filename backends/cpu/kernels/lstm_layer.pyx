"""One LSTM layer in one direction: forward, which saves the gates, and backpropagation through time.

Input: interpreter registers with the arguments of `aten::mkldnn_rnn_layer` or its backward. Output: registers
of the output, the last states and a workspace, or of the gradients.

The workspace first holds the activated gates of all time steps, in the order input, forget, cell, output. The
cell states follow. For other arguments, the operator's Python kernel runs.
"""

import numpy as np

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.math cimport tanh
from libc.stdint cimport int32_t, uintptr_t
from libc.string cimport memcpy, memset
from numpy cimport npy_intp

from ts._core.dispatch.operator cimport Operator, UNSUPPORTED
from ts._core.tensor.ndarray cimport DOUBLE, FLOAT, UINT8, PyArrayObject, data_of, dims_of, ndim_of, size_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor
from ts._core.thread.deadline cimport charge_time, timed
from ts._core.value.container cimport List, list_item
from ts._core.value.ivalue cimport IValue, TAG_NONE
from ts._core.value.no_python_construction cimport seal
from ts.backends.cpu.kernels cimport blas_thread_limit
from ts.backends.cpu.kernels.gemm_tiles cimport Packed
from ts.backends.cpu.kernels.kernel cimport is_tensor, set_result, scalar_type
from ts.backends.cpu.kernels.matmul cimport MIN_MULTIPLICATIONS_WITHOUT_GIL, Job, make_job, multiply_into
from ts.backends.cpu.kernels.recurrent cimport (
    LSTM, MIN_STEPS_TO_PACK, NANOSECONDS_PER_STEP, Weights, cached_panels_of, has_shape, item_size, make_weights, new_matrix,
    read_batch_sizes, read_weight, run_layer, transposed
)
from ts.backends.cpu.kernels.row_loops cimport RowLoops
from ts.backends.cpu.kernels.kernel_registry cimport register_kernel
from ts.backends.cpu.kernels.vector_math cimport row_loops_here

cnp.import_array()

cdef const RowLoops *LOOPS = row_loops_here()

cdef enum:
    LSTM_MODE = 2                      # value of the argument `mode` for LSTM, as in PyTorch


# ---------------------------------------------------------------- arguments

cdef object read_array(IValue *x, int dtype, int nd):
    """Return the contiguous array of a non-empty CPU tensor with the given dtype and rank, or None for other
    values.
    """
    cdef object array
    if not is_tensor(x) or (<Tensor>x.v.o).backend != BACKEND_CPU or scalar_type(x) != dtype:
        return None
    array = (<Tensor>x.v.o).array
    if ndim_of(<PyArrayObject *>array) != nd or size_of(<PyArrayObject *>array) == 0:
        return None
    return cnp.PyArray_GETCONTIGUOUS(<cnp.ndarray>array)


cdef object read_state(IValue *x, int dtype):
    """Return a state of shape (batch, hidden) or (1, batch, hidden) as a matrix, or None for other values."""
    cdef object array = read_array(x, dtype, 2)
    if array is None:
        array = read_array(x, dtype, 3)
        if array is not None:
            array = array[0] if len(array) == 1 else None
    return array


cdef Weights layer_weights(IValue *r, const int32_t *at, int dtype, bint biased):
    """Create the layer's weights, without packed panels, from arguments 1 to 4.

    Return None if an argument is unsupported.
    """
    cdef list arrays = []
    cdef int i
    for i in range(1, 5 if biased else 3):
        if not is_tensor(&r[at[i]]):
            return None
        arrays.append(read_weight(&r[at[i]], dtype))
    return make_weights(LSTM, dtype, arrays, biased)


# ---------------------------------------------------------------- forward

cdef int run_forward(Operator op, IValue *r, const int32_t *at) except -1:
    """Run the forward of a layer.

    Arguments: (input, w_ih, w_hh, b_ih, b_hh, hx, cx, reverse, batch_sizes, mode, hidden_size, ...,
    has_biases, ...).
    """
    cdef npy_intp times, batch, inputs, width, total
    cdef Weights w
    cdef Packed packed_ih, packed_hh
    cdef object x, hx, cx, sizes, out, workspace, input_gates
    cdef int dtype
    if not is_tensor(&r[at[0]]) or r[at[9]].v.i != LSTM_MODE:
        return UNSUPPORTED
    dtype = scalar_type(&r[at[0]])
    x, hx, cx = read_array(&r[at[0]], dtype, 3), read_state(&r[at[5]], dtype), read_state(&r[at[6]], dtype)
    if (dtype != FLOAT and dtype != DOUBLE) or x is None or hx is None or cx is None:
        return UNSUPPORTED
    times, batch, inputs = x.shape
    width, total = dims_of(<PyArrayObject *>hx)[1], times * batch
    packed_ih, packed_hh = cached_panels_of(&r[at[1]], total), cached_panels_of(&r[at[2]], batch)
    w = layer_weights(r, at, dtype, r[at[12]].v.i != 0)
    if w is None or not w.match_shapes(inputs, width) or not has_shape(hx, batch, width) or not has_shape(cx, batch, width):
        return UNSUPPORTED
    w.packed_ih, w.packed_hh = packed_ih, packed_hh
    sizes = read_batch_sizes(NULL, times, batch, total)
    workspace, out, hx, cx = new_matrix(5 * total, width, dtype), new_matrix(total, width, dtype), hx.copy(), cx.copy()
    input_gates = workspace[:4 * total].reshape(total, 4 * width)
    if not run_layer(
        w, x.reshape(total, inputs), sizes, r[at[7]].v.i != 0, hx, cx, data_of(<PyArrayObject *>out), width, input_gates,
        data_of(<PyArrayObject *>workspace) + 4 * total * width * item_size(dtype)
    ):
        return UNSUPPORTED
    set_result(&r[at[op.nargs]], out.reshape(times, batch, width), dtype)
    set_result(&r[at[op.nargs + 1]], hx.reshape(shape_at(&r[at[5]])), dtype)
    set_result(&r[at[op.nargs + 2]], cx.reshape(shape_at(&r[at[6]])), dtype)
    return set_result(&r[at[op.nargs + 3]], workspace.reshape(-1).view("u1"), UINT8)


# ---------------------------------------------------------------- backward through the time steps

ctypedef struct TimeSteps:
    # State of the backward loop over time steps. Each gate and each state has `batch` rows of `width`
    # elements.
    bint double_
    bint reverse
    npy_intp times
    npy_intp batch
    npy_intp width
    const char *saved                  # activated gates of all time steps, saved by the forward
    const char *cells                  # cell state after each time step, saved by the forward
    const char *first                  # cell state before the first time step
    const char *grad                   # gradient of the outputs, or NULL
    # Gradients of the hidden state and of the cell state after the current time step. When a step is done,
    # they become the gradients of the states before this step.
    char *hidden
    char *cell
    char *now                          # gradients of the gates, for the current time step
    char *all                          # gradients of the gates, for all time steps


cdef void lstm_step_backward(
    npy_intp rows, npy_intp n, const double *saved, const double *before, const double *after, const double *grad,
    const double *through, double *of_cell, double *of_gates
) noexcept nogil:
    """Compute the gradients of the gates and of the cell state for one time step, in float64.

    `row_loops.h` has the equivalent float32 function.
    """
    cdef npy_intp row, i
    cdef double enter, forget, update, out, tanh_cell, of_hidden, of_inside
    for row in range(rows):
        for i in range(n):
            enter, forget, update, out = saved[i], saved[n + i], saved[2 * n + i], saved[3 * n + i]
            tanh_cell, of_hidden = tanh(after[i]), through[i]
            if grad != NULL:
                of_hidden += grad[i]
            of_inside = of_cell[i] + of_hidden * out * (1 - tanh_cell * tanh_cell)
            of_gates[i] = of_inside * update * enter * (1 - enter)
            of_gates[n + i] = of_inside * before[i] * forget * (1 - forget)
            of_gates[2 * n + i] = of_inside * enter * (1 - update * update)
            of_gates[3 * n + i] = of_hidden * tanh_cell * out * (1 - out)
            of_cell[i] = of_inside * forget
        if grad != NULL:
            grad += n
        saved += 4 * n
        before += n
        after += n
        through += n
        of_cell += n
        of_gates += 4 * n


cdef void backward_step(TimeSteps *s, npy_intp k) noexcept nogil:
    """Compute the gradients of the gates for the k-th time step of the backward pass, which runs in reverse order."""
    cdef npy_intp t = k if s.reverse else s.times - 1 - k
    cdef npy_intp size = s.batch * s.width * (8 if s.double_ else 4)
    cdef const char *saved = s.saved + 4 * t * size
    cdef const char *after = s.cells + t * size
    cdef const char *before = s.first if k == s.times - 1 else after + (size if s.reverse else -size)
    cdef const char *grad = NULL if s.grad == NULL else s.grad + t * size
    if s.double_:
        lstm_step_backward(
            s.batch, s.width, <const double *>saved, <const double *>before, <const double *>after, <const double *>grad,
            <const double *>s.hidden, <double *>s.cell, <double *>s.now
        )
    else:
        LOOPS.lstm_step_backward(
            s.batch, s.width, <const float *>saved, <const float *>before, <const float *>after, <const float *>grad,
            <const float *>s.hidden, <float *>s.cell, <float *>s.now
        )
    memcpy(s.all + 4 * t * size, s.now, 4 * size)


cdef int run_backward_steps(TimeSteps *s, Job back) except -1:
    """Run all time steps in reverse. `hidden` and `cell` in `s` become the gradients of the initial states."""
    cdef double work = (back.work() + 64.0 * s.batch * s.width) * s.times
    cdef npy_intp k
    cdef int done = 0
    if back.partition_count > 1 or timed:
        for k in range(s.times):
            charge_time(NANOSECONDS_PER_STEP)
            with nogil:
                backward_step(s, k)
            back.run()
    elif work >= MIN_MULTIPLICATIONS_WITHOUT_GIL:
        with nogil:
            done = run_backward_steps_on_this_thread(s, back)
    else:
        done = run_backward_steps_on_this_thread(s, back)
    if done < 0:
        raise MemoryError()
    return 0


cdef int run_backward_steps_on_this_thread(TimeSteps *s, Job back) noexcept nogil:
    cdef npy_intp k
    for k in range(s.times):
        backward_step(s, k)
        if back.run_again() < 0:
            return -1
    return 0


# ---------------------------------------------------------------- gradients

cdef class LstmBackward:
    """The inputs and gradients of one layer during its backward."""

    cdef Weights w
    cdef object input                  # layer input of shape (time * batch, inputs)
    cdef object output                 # hidden states of shape (time, batch, width)
    cdef object hx
    cdef object gates                  # gradients of the gates of all time steps
    cdef object of_hx                  # gradient of the initial hidden state
    cdef object of_cx                  # gradient of the initial cell state
    cdef bint reverse

    cdef object weight_gradient(self, object left, object right):
        """Return left.T @ right, the gradient of a weight, or None if the product is unsupported."""
        cdef object result = new_matrix(left.shape[1], right.shape[1], self.w.dtype)
        return result if multiply_into(transposed(left), right, result, 1, 0, None, None, NULL, NULL) else None

    cdef object hidden_weight_gradient(self):
        """Return the gradient of w_hh.

        It is the sum over all time steps of the gate gradients times the hidden states before the step.
        """
        cdef npy_intp batch = self.hx.shape[0], total = self.gates.shape[0]
        cdef object result, before = self.output.reshape(total, -1)
        cdef object first = self.gates[total - batch:] if self.reverse else self.gates[:batch]
        cdef object rest = self.gates[:total - batch] if self.reverse else self.gates[batch:]
        result = self.weight_gradient(first, self.hx)
        if result is None or total == batch:
            return result
        before = before[batch:] if self.reverse else before[:total - batch]
        return result if multiply_into(transposed(rest), before, result, 1, 1, None, None, NULL, NULL) else None

    cdef object input_gradient(self):
        cdef object result = new_matrix(self.gates.shape[0], self.w.w_ih.shape[1], self.w.dtype)
        return result if multiply_into(self.gates, self.w.w_ih, result, 1, 0, None, None, NULL, NULL) else None


seal(LstmBackward)


cdef LstmBackward compute_gate_gradients(IValue *r, const int32_t *at):
    """Compute the gradients of the gates from the operator's registers.

    Return None if an argument is unsupported.
    """
    cdef int dtype = scalar_type(&r[at[0]])
    cdef npy_intp times, batch, inputs, width, size = item_size(dtype)
    cdef LstmBackward b = LstmBackward.__new__(LstmBackward)
    cdef object x, cx, grad = None, now, workspace
    cdef Job job
    cdef TimeSteps s
    cdef bint limited
    b.w = layer_weights(r, at, dtype, r[at[17]].v.i != 0)
    x, b.hx, cx = read_array(&r[at[0]], dtype, 3), read_state(&r[at[5]], dtype), read_state(&r[at[6]], dtype)
    b.output, workspace = read_array(&r[at[7]], dtype, 3), read_array(&r[at[22]], UINT8, 1)
    if (dtype != FLOAT and dtype != DOUBLE) or b.w is None or x is None or b.hx is None or cx is None or b.output is None:
        return None
    times, batch, inputs = x.shape
    width = dims_of(<PyArrayObject *>b.hx)[1]
    if not b.w.match_shapes(inputs, width) or not has_shape(b.hx, batch, width) or not has_shape(cx, batch, width):
        return None
    if b.output.shape != (times, batch, width) or workspace is None or len(workspace) != 5 * times * batch * width * size:
        return None
    b.of_hx, b.of_cx = copy_state_gradient(&r[at[11]], dtype, batch, width), copy_state_gradient(&r[at[12]], dtype, batch, width)
    if r[at[10]].tag != TAG_NONE:
        grad = read_array(&r[at[10]], dtype, 3)
        if grad is None or grad.shape != b.output.shape:
            return None
    now = new_matrix(batch, 4 * width, dtype)
    if b.of_hx is None or b.of_cx is None or <uintptr_t>data_of(<PyArrayObject *>workspace) % size:
        return None
    job = make_job(now, b.w.w_hh, b.of_hx)
    if job is None:
        return None
    b.input, b.reverse, b.gates = x.reshape(times * batch, inputs), r[at[13]].v.i != 0, new_matrix(times * batch, 4 * width, dtype)
    s.double_, s.reverse, s.times, s.batch, s.width = dtype == DOUBLE, b.reverse, times, batch, width
    s.saved = data_of(<PyArrayObject *>workspace)
    s.cells = s.saved + 4 * times * batch * width * size
    s.first, s.grad = data_of(<PyArrayObject *>cx), NULL if grad is None else data_of(<PyArrayObject *>grad)
    s.hidden, s.cell = data_of(<PyArrayObject *>b.of_hx), data_of(<PyArrayObject *>b.of_cx)
    s.now, s.all = data_of(<PyArrayObject *>now), data_of(<PyArrayObject *>b.gates)
    if times >= MIN_STEPS_TO_PACK:
        job.pack(None)
    limited = job.limited
    if limited:
        blas_thread_limit.begin()
    try:
        run_backward_steps(&s, job)
    finally:
        if limited:
            blas_thread_limit.end()
    return b


cdef object copy_state_gradient(IValue *x, int dtype, npy_intp batch, npy_intp width):
    """Return a copy of the gradient of a final state, or zeros if the gradient is None.

    Return None if the gradient is unsupported.
    """
    cdef object array
    if x.tag != TAG_NONE:
        array = read_state(x, dtype)
        return array.copy() if array is not None and array.shape == (batch, width) else None
    array = new_matrix(batch, width, dtype)
    memset(data_of(<PyArrayObject *>array), 0, batch * width * item_size(dtype))
    return array


cdef bint is_gradient_required(Operator op, IValue *r, const int32_t *at, int i) noexcept:
    """Return whether the argument `output_mask` requests gradient `i`. Without this argument, return True."""
    cdef PyObject *mask
    if op.nargs == 23:
        return True
    mask = <PyObject *>r[at[23]].v.o
    return i < (<List>mask).size and list_item(mask, i).v.i != 0


cdef int layer_backward(Operator op, IValue *r, const int32_t *at) except -1:
    """Run the backward pass of a layer.

    Arguments: (input, w_ih, w_hh, b_ih, b_hh, hx, cx, output, hy, cy, gradients, reverse, mode, ...,
    output_mask).
    """
    cdef LstmBackward b
    cdef list result = [None] * 7
    cdef int i, dtype
    if not is_tensor(&r[at[0]]) or r[at[14]].v.i != LSTM_MODE or (op.nargs == 24 and (<List>r[at[23]].v.o).size != 7):
        return UNSUPPORTED
    dtype = scalar_type(&r[at[0]])
    b = compute_gate_gradients(r, at)
    if b is None:
        return UNSUPPORTED
    if is_gradient_required(op, r, at, 0):
        result[0] = b.input_gradient()
    if is_gradient_required(op, r, at, 1):
        result[1] = b.weight_gradient(b.gates, b.input)
    if is_gradient_required(op, r, at, 2):
        result[2] = b.hidden_weight_gradient()
    for i in range(3, 5):
        if is_gradient_required(op, r, at, i) and r[at[17]].v.i:
            result[i] = b.gates.sum(0) if result[3] is None else result[3].copy()
        elif is_gradient_required(op, r, at, i):
            result[i] = np.zeros(shape_at(&r[at[i]]), b.gates.dtype)
    for i in range(3):
        if result[i] is None and is_gradient_required(op, r, at, i):
            return UNSUPPORTED
    if result[0] is not None:
        result[0] = result[0].reshape(b.output.shape[0], b.output.shape[1], -1)
    result[5], result[6] = b.of_hx.reshape(shape_at(&r[at[5]])), b.of_cx.reshape(shape_at(&r[at[6]]))
    for i in range(7):
        if result[i] is None or not is_gradient_required(op, r, at, i):
            result[i] = EMPTY_GRADIENTS[dtype == DOUBLE].copy()
        set_result(&r[at[op.nargs + i]], result[i], dtype)
    return 0


cdef inline tuple shape_at(IValue *x):
    return (<Tensor>x.v.o).array.shape


cdef tuple EMPTY_GRADIENTS = (np.empty(0, "f4"), np.empty(0, "f8"))

register_kernel("aten::mkldnn_rnn_layer", run_forward)
register_kernel("aten::mkldnn_rnn_layer_backward", layer_backward)
register_kernel("aten::_mkldnn_rnn_layer_backward", layer_backward)
