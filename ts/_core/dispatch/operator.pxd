"""Operators for the interpreter: arity of the schema and one kernel per backend.

A kernel reads its arguments from registers and writes its results to registers:

    at[0 .. nargs)                 indices into r of the arguments (borrowed)
    at[nargs .. nargs + nrets)     indices into r of the results; written last, old value released
                                   (a result register may also be an argument register)

It returns 0, or -1 with a Python exception set.  It is called with the GIL held, unless the
operator is `scalar`: then it touches no Python object unless it fails, and takes the GIL itself to raise.

`invoke` is the only path to a kernel: the interpreter, Python calls, indexing and conversions use it, and
observers of a thread's operators set a flag in the thread's context.  Exception: basic indexing of CPU
tensors (`subscripts`) without a kernel, for tensors that do not require grad.

    kernels[backend]     operator with a record: bound on first use (`Backend.bind_kernel`); `call_python_kernel`
                         if the backend has no C kernel
    kernels[0]           operator of the language (on numbers, strings, lists): it has no backends
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
    NO_LAYERS = 0                      # results of `invoke_layered`: no argument has layers
    HAS_RUN = 1                        # the operator has run
    OF_TAPE = 2                        # the tape must record it first
    WATCHED = LIMITED | PROFILING | LAYERED | AUTOCAST  # flags of observers of every operator


cdef class Operator:
    cdef readonly str name             # "aten::add"
    cdef readonly str overload         # "Tensor", or ""
    cdef readonly str schema_text      # PyTorch's text
    cdef readonly int nargs
    cdef readonly int nrets
    cdef readonly bint scalar          # arguments and results are numbers: may run without the GIL
    cdef Kernel kernels[MAX_BACKENDS]
    cdef PyObject *state[MAX_BACKENDS]  # data of each kernel for this operator, borrowed from `kept`
    cdef list kept                     # owns `state`, also of replaced kernels, which other threads may still run
    cdef void *data                    # data for the kernel of an operator of the language, e.g. a C function
    cdef public object record          # the operator's record in ts.ops, if it has one
    cdef list implementations          # by backend: (backend, array namespace, the record's Python kernel)
    cdef object schema_                # parsed schema of an operator without record
    cdef object signature_             # `ts._core.dispatch.signature.Signature`, parsed on first use
    cdef tuple parameters              # `signature.Parameter` of each argument
    cdef tuple return_specs            # TypeSpec of each result
    cdef tuple takes                   # TypeSpec of each parameter, as `proving` reads them
    cdef readonly TypeSpec gives       # TypeSpec of the only result if the schema is less precise, or None
    cdef bint whole                    # composite: its kernel calls other operators on tensors of any device
    cdef int tensor_at                 # number of the first tensor or tensor-list argument, or -1
    cdef int device_at                 # number of the argument `device=` of a factory, or -1
    cdef list written                  # numbers of the arguments that it writes
    cdef bint reads                    # it must not write memory that another argument partly overlaps
    cdef tuple layouts                 # memory-layout rules of its results: `ts.ops.result_strides`
    cdef object rule                   # differentiation rule (`ts._core.autograd.rule`), None before use
    cdef object casts                  # autocast rule (`autocast`), None before use
    cdef int overlap                   # reaction to overlapping elements in a written argument: `overlap.pxd`
    cdef object __weakref__


# Run the record's Python kernel, on arrays: the default kernel of every backend, and the fallback of C kernels.
cdef int call_python_kernel(Operator op, IValue *r, const int32_t *at) except -1
# Set the C kernel of a backend, and its data for this operator (`state`).
cdef int set_kernel(Operator op, int backend, Kernel kernel, object kept) except -1
# Return whether a backend has a C kernel for `op`.
cdef bint has_kernel(Operator op, int backend) except -1
# Check `ts.limits` before an operator runs; set by `work`.
cdef Kernel before_limited
# `before_limited` for Python values instead of registers.
cdef int (*before_limited_call)(Operator op, list args) except -1
# `invoke_watched` with the profiler, which records start and end times; set by `recorder`.
cdef int (*invoke_recorded)(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# `invoke_recorded` for Python values instead of registers.
cdef object (*call_recorded)(Operator op, list args)
# Notify the profiler that an operator runs its record's kernel, on a backend's arrays.
cdef int (*note_record)(Operator op, int backend) except -1
# `invoke` with autocast, which casts the arguments; set by `autocast`.
cdef int (*invoke_cast)(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# `invoke_cast` for Python values instead of registers.
cdef object (*call_cast)(Operator op, list args)
# Continuation after the casts: `invoke_watched` and related functions on the arguments unchanged.
cdef int invoke_uncast(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
cdef object call_uncast(Operator op, list args)
# `invoke` if a thread flag is set or a tensor requires grad; `code`, `instruction`: the caller, or NULL.
cdef int invoke_attended(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# `invoke` if this thread has an observer, such as a profiler or limits.
cdef int invoke_watched(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# `invoke` if an input or its base requires grad; set by the tape.
cdef int (*invoke_taped)(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# `invoke` if an input may have layers; set by `ts._core.dispatch_layers`.  `wanted`: an argument requires grad.
cdef int (*invoke_layered)(Operator op, IValue *r, const int32_t *at, bint wanted) except -1
# Run an operator on Python values with layers.
cdef object (*call_layered)(Operator op, list args)
# Run `function(op, Python values)` on the values of registers, and write its results to registers.
cdef int run_in_python(Operator op, object (*function)(Operator op, list args), IValue *r, const int32_t *at) except -1
# `invoke` below the tape: the kernel, seen by profilers and limits.
cdef int invoke_seen(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# `invoke_seen` with limits only, without the profiler.
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
