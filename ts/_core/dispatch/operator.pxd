"""Operators as the interpreter sees them: a schema's arity and a kernel for each backend.

A kernel reads its arguments from registers and writes its results to registers:

    at[0 .. nargs)                 indices into r of the arguments (borrowed)
    at[nargs .. nargs + nrets)     indices into r of the results; written last, old value released
                                   (a result register may also be an argument register)

It returns 0, or -1 with a Python exception set.  It is called with the GIL held, unless the
operator is `scalar`: then it touches no Python object unless it fails, and takes the GIL itself to raise.

`invoke` is the one way to a kernel: the interpreter, Python's calls, indexing and conversions go through it, and
whoever wants to see every operator of a thread has a flag in the thread's context.  What Python asks of a tensor without
a kernel, numbers and views of memory on the CPU by basic indices (`subscripts`), is answered by the tensor, as long as it
wants no gradient.

    kernels[backend]     of an operator with a record: looked for when the backend is first asked for one
                         (`Backend.bind_kernel`); `call_python_kernel` where it has none in C
    kernels[0]           of an operator of the language, which takes no tensor that could choose a backend
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t

from ts._core.thread.context cimport AUTOCAST, LAYERED, LIMITED, PROFILING, attention, context_flags, differentiating
from ts._core.tensor.tensor cimport Tensor
from ts._core.value.container cimport List
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT, TypeSpec

ctypedef int (*Kernel)(Operator op, IValue *r, const int32_t *at) except -1

cdef enum:
    MAX_BACKENDS = 16                 # `ts.backends.register` refuses more
    NO_LAYERS = 0                      # what `invoke_layered` says: nothing to do ...
    HAS_RUN = 1
    OF_TAPE = 2                        # the tape comes first
    WATCHED = LIMITED | PROFILING | LAYERED | AUTOCAST  # flags of who sees every operator


cdef class Operator:
    cdef readonly str name             # "aten::add"
    cdef readonly str overload         # "Tensor", or ""
    cdef readonly str schema_text      # PyTorch's text
    cdef readonly int nargs
    cdef readonly int nrets
    cdef readonly bint scalar          # numbers in, numbers out: may run without the GIL
    cdef Kernel kernels[MAX_BACKENDS]
    cdef PyObject *state[MAX_BACKENDS]  # what such a kernel keeps for this operator
    cdef list kept                     # ... held, also where it has another by now: threads may be at work in it
    cdef void *data                    # what the kernel of an operator of the language needs: a C function, say
    cdef public object record          # the operator's record in ts.ops, if it has one
    cdef list implementations          # by backend: itself, its namespace, the record's Python kernel for it
    cdef object schema_                # the parsed schema, where there is no record to hold it
    cdef object signature_             # ts._core.dispatch.signature.Signature, read on first use
    cdef tuple parameters              # its parameters
    cdef tuple return_specs            # TypeSpec of each result
    cdef tuple takes                   # TypeSpec of each parameter, as `proving` reads them
    cdef readonly TypeSpec gives       # of its one result, where the schema does not say that; or None
    cdef bint whole                    # its kernel takes and gives tensors, on whatever devices
    cdef int tensor_at                 # the first argument that is a tensor or a list of them, or -1
    cdef int device_at                 # the argument that says on which device to create, or -1
    cdef list written                  # the arguments that it writes
    cdef bint reads                    # ... while it reads the others, element by element
    cdef tuple layouts                 # the rules by which its results lie in memory: `ts.ops.result_strides`
    cdef object rule                   # how it is differentiated: `ts._core.autograd.rule`, or None before somebody asked
    cdef object casts                  # in which dtypes autocast has it compute: `autocast`, or None before somebody asked
    cdef int overlap                   # what it does where elements of these are one place: `overlap.pxd`
    cdef object __weakref__


# What every backend has: the record's own kernel, on arrays.  A kernel in C falls back to it.
cdef int call_python_kernel(Operator op, IValue *r, const int32_t *at) except -1
# The kernel in C of a backend, and what it keeps for this operator (`state`).
cdef int set_kernel(Operator op, int backend, Kernel kernel, object kept) except -1
# Whether a backend has one.
cdef bint has_kernel(Operator op, int backend) except -1
# What `ts.limits` wants to see of each operator before it runs.
cdef Kernel before_limited
# The same where Python's values do not go through registers.
cdef int (*before_limited_call)(Operator op, list args) except -1
# The same as `invoke_watched`, for a profiler, which looks at the clock before and after; `recorder` sets it.
cdef int (*invoke_recorded)(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# The same where Python's values do not go through registers.
cdef object (*call_recorded)(Operator op, list args)
# Tell it that an operator runs by its record, on a backend's arrays.
cdef int (*note_record)(Operator op, int backend) except -1
# `invoke` where autocast is on: its arguments get other dtypes; `autocast` sets it.
cdef int (*invoke_cast)(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# The same where Python's values do not go through registers.
cdef object (*call_cast)(Operator op, list args)
# What they go on with: `invoke_watched` and its like on arguments as they are.
cdef int invoke_uncast(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
cdef object call_uncast(Operator op, list args)
# `invoke` where a thread has a flag, or a tensor wants gradients: on behalf of an instruction of a code, or NULL.
cdef int invoke_attended(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# ... and this thread's flags say that somebody watches.
cdef int invoke_watched(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# The same for one that takes a tensor that wants a gradient, or whose base does; the tape sets it.
cdef int (*invoke_taped)(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# ... for one that takes a tensor with layers; the gate of `ts._core.dispatch_layers` sets it.  `wanted`: the tape would record it.
cdef int (*invoke_layered)(Operator op, IValue *r, const int32_t *at, bint wanted) except -1
# Who runs such operators: function(operator, Python's values).
cdef object (*call_layered)(Operator op, list args)
# Run `function(op, Python's values)` on registers.
cdef int run_in_python(Operator op, object (*function)(Operator op, list args), IValue *r, const int32_t *at) except -1
# `invoke` below the tape: the kernel, seen by profilers and limits.
cdef int invoke_seen(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# ... and where limits are what there is to be seen to.
cdef int invoke_limited(Operator op, IValue *r, const int32_t *at) except -1
cdef object call_limited(Operator op, list args)


cdef inline int backend_at(Operator op, IValue *r, const int32_t *at) noexcept:
    """Return the backend of the first tensor argument, or 0 (CPU) without tensors."""
    cdef IValue *x
    if op.tensor_at < 0:
        return 0
    x = &r[at[op.tensor_at]]
    if x.tag != TAG_OBJECT or x.v.o == NULL:
        return 0
    if isinstance(<object>x.v.o, Tensor):
        return (<Tensor>x.v.o).backend
    if type(<object>x.v.o) is List and (<List>x.v.o).size and (<List>x.v.o).item == TAG_NONE:
        x = <IValue *>(<List>x.v.o).items
        if x.tag == TAG_OBJECT and x.v.o != NULL and isinstance(<object>x.v.o, Tensor):
            return (<Tensor>x.v.o).backend
    return 0


cdef inline int invoke(Operator op, IValue *r, const int32_t *at) except -1:
    """Run an operator on registers."""
    if attention:
        return invoke_attended(op, r, at, NULL, NULL)
    return op.kernels[backend_at(op, r, at)](op, r, at)


cdef inline int invoke_at(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    """Invoke the operator of an instruction, with its code for the profiler."""
    if attention:
        return invoke_attended(op, r, at, code, instruction)
    return op.kernels[backend_at(op, r, at)](op, r, at)
