"""Dispatch table of operators with one kernel per backend, and the calling convention of kernels.

A kernel reads its arguments from the registers `r` and writes its results to them. `at` has the numbers of
the operator's registers:

    at[0 .. nargs)                 indices of the arguments (borrowed)
    at[nargs .. nargs + nrets)     indices of the results, which are written last and release the old values

A result register may also be an argument register. A kernel returns 0, or -1 with a Python exception set. For
unsupported arguments, it returns UNSUPPORTED, without a change of any register or tensor. Then `run_kernel`
calls the operator's fallback for the backend. The fallback calls the kernel again with converted arguments,
or runs the Python kernel of the operator record.

Kernels are called with the GIL held. Only kernels of `scalar` operators may be called without the GIL. These
access no Python objects, and acquire the GIL to raise an error.

The interpreter and Python call kernels through `invoke`. It first calls the handlers of the active dispatch
keys. Only basic indexing of CPU tensors that do not require grad does not use `invoke` (`basic_indexing`).
The dispatch table has these entries:

    kernels[backend]     kernel of an operator with an operator record, set at the first call (`Backend.bind_kernel`).
                         `call_python_kernel` is used if the backend has no C kernel.
    kernels[0]           kernel of an operator of the language (on numbers, strings, lists)
    fallbacks[backend]   called if the kernel returns UNSUPPORTED
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t

from ts._core.thread.context cimport AUTOCAST, DIFFERENTIATED, LAYERED, LIMITED, PROFILING, attention, context_flags, differentiating
from ts._core.tensor.tensor cimport Tensor
from ts._core.value.container cimport List
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT, TypeSpec

ctypedef int (*Kernel)(Operator op, IValue *r, const int32_t *at) except -1

cdef enum:
    UNSUPPORTED = 2  # result of a kernel that does not support the arguments
    MAX_BACKENDS = 16  # length of tables with an entry for each backend. The last entry is for undefined tensors.
    # Context flags of a thread. Each of them makes a dispatch key active in the thread. Autograd needs no
    # flag.
    WATCHED = LIMITED | PROFILING | LAYERED | AUTOCAST | DIFFERENTIATED

# Dispatch keys: the handlers that run before the kernel of an operator, from the outermost to the innermost.
# Operators of the language, which have no operator record, have only the last three keys.
cdef enum DispatchKey:
    CAPTURE_KEY                        # `dispatch_layers`: rejects in-place operators on captured tensors
    AUTOCAST_KEY                       # `autocast`: casts the arguments
    TRANSFORM_KEY                      # `dispatch_layers`: the function transform or class at the highest level
    AUTOGRAD_KEY                       # `autograd.tape`: records operators with an argument that requires grad
    INNER_TRANSFORM_KEY                # `dispatch_layers`, after autograd
    LOG_KEY                            # `op_log`
    PROFILER_KEY                       # `profiler_recorder`
    LIMITS_KEY                         # `work`: limits of time and memory
    KEY_COUNT

# `KeyKernel` is the handler of a dispatch key for arguments in registers. `BoxedKeyKernel` is the handler for
# Python values that registers cannot contain.
ctypedef int (*KeyKernel)(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
ctypedef object (*BoxedKeyKernel)(Operator op, list args)


cdef class Operator:
    cdef readonly str name             # qualified name, such as "aten::add"
    cdef readonly str overload         # overload name, such as "Tensor", or "" for the unnamed overload
    cdef readonly str schema_text      # schema in PyTorch's syntax
    cdef readonly int nargs
    cdef readonly int nrets
    # True if all arguments and results are numbers. The kernel can then run without the GIL.
    cdef readonly bint scalar
    cdef Kernel kernels[MAX_BACKENDS]
    cdef Kernel fallbacks[MAX_BACKENDS]
    # backend number -> Python object that the kernel of this operator uses on the backend. `owners` owns the
    # references.
    cdef PyObject *state[MAX_BACKENDS]
    cdef list owners  # references to the objects in `state`, and to those of replaced kernels, which other threads may still run
    cdef void *data  # for operators of the language: data that the kernel reads, such as a C function
    cdef public object record          # operator record in `ts.ops`, or None for an operator of the language
    cdef list implementations          # backend number -> (backend, array namespace, Python kernel)
    cdef object schema_                # parsed schema of an operator without an operator record
    cdef object signature_  # `ts._core.dispatch.signature.Signature`, or None until the schema is parsed
    cdef tuple parameters              # `signature.Parameter` of each argument
    cdef tuple return_specs            # TypeSpec of each result
    cdef tuple argument_specs                   # TypeSpec of each parameter, prepared by `proving` to check the types of arguments
    # TypeSpec of the operator's only result, or None. It is set if the type is more precise than the type in
    # the schema.
    cdef readonly TypeSpec result_spec
    # True for a composite operator, whose kernel calls other operators on tensors of any device
    cdef bint tensor_kernel
    cdef int tensor_at  # number of the first argument that is a tensor or tensor list, or -1 if there is none
    cdef int device_at                 # number of the argument `device=` of a factory, or -1 if there is none
    cdef int write_kind                # `dispatch_layers.transform_dispatch.WriteKind`, or -1 before the first use
    cdef list written                  # numbers of the arguments that the operator modifies
    cdef bint checks_overlap  # True if a written argument must not partially overlap another argument in memory
    cdef tuple layouts                 # rules for the memory layout of the results (`ts.ops.result_strides`)
    cdef object rule  # differentiation rule (`ts._core.autograd.rule`), or None before the first use
    cdef object casts                  # autocast rule (`autocast`), or None before the first use
    cdef int overlap  # rule (`overlap.pxd`) for written arguments whose elements overlap in memory
    cdef object __weakref__


# Run the operator's Python kernel on arrays. This is the default kernel and the default fallback of each backend.
cdef int call_python_kernel(Operator op, IValue *r, const int32_t *at) except -1
# Set the C kernel of a backend and the fallback for arguments that the kernel does not support. `owner` becomes the
# kernel's object in `state`.
cdef int set_kernel(Operator op, int backend, Kernel kernel, object owner, Kernel fallback=*) except -1
# Return whether a backend has a C kernel for `op`.
cdef bint has_kernel(Operator op, int backend) except -1
# Register the two handlers of a dispatch key. The key is active in threads whose context flag `flag` is set.
cdef int register_key(DispatchKey key, unsigned int flag, KeyKernel invoke, BoxedKeyKernel call) except -1
# The handler of the dispatch key `key` calls this function to continue. It runs the handler of the next
# active key after `key`, or the kernel if there is no such key.
cdef int invoke_after(
    DispatchKey key, Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction
) except -1
cdef object call_after(DispatchKey key, Operator op, list args)
# Return whether a tensor argument, or a tensor in a list argument, requires grad. A view also counts if its
# base requires grad.
cdef bint requires_gradient(Operator op, IValue *r, const int32_t *at) noexcept
# Run an operator on Python values if some of the tensors have layers of function transforms, also if no
# transform is active in this thread.
cdef object call_transform(Operator op, list args)
# Parse the schema of an operator, and set the fields that depend on it.
cdef int read_signature(Operator op) except -1
# Run an operator with the active dispatch keys: context flags may be set, or a tensor may require grad. `code` and
# `instruction` identify the calling instruction of a script, and are NULL for other callers.
cdef int invoke_attended(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1
# Convert the arguments in registers to Python values, call `function(op, values)`, and write its results to
# the result registers.
cdef int run_in_python(Operator op, object (*function)(Operator op, list args), IValue *r, const int32_t *at) except -1


cdef inline int backend_at(Operator op, IValue *r, const int32_t *at) noexcept:
    """Return the backend number of the first tensor argument, or 0 (CPU) without a tensor."""
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


cdef inline int run_kernel(Operator op, IValue *r, const int32_t *at) except -1:
    """Run the kernel for the arguments' backend. If it does not support the arguments, run the fallback kernel."""
    cdef int backend = backend_at(op, r, at)
    if op.kernels[backend](op, r, at) == UNSUPPORTED:
        return op.fallbacks[backend](op, r, at)
    return 0


cdef inline int invoke(Operator op, IValue *r, const int32_t *at) except -1:
    """Run an operator on registers."""
    if attention:
        return invoke_attended(op, r, at, NULL, NULL)
    return run_kernel(op, r, at)


cdef inline int invoke_at(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    """Run the operator of an instruction. The profiler receives `code` and `instruction`."""
    if attention:
        return invoke_attended(op, r, at, code, instruction)
    return run_kernel(op, r, at)
