"""Autocast (automatic mixed precision) with a cast policy per operator and a cast cache.

Input: an operator, its arguments, and the thread's autocast state. Output: the operator's results for cast
arguments. Examples:

    set_enabled(0, True)     enables autocast in this thread for backend 0, the CPU
    linear(x, w)             calls linear(x.to(bfloat16), w.to(bfloat16))
    mse_loss(y, t)           calls mse_loss(y.to(float32), t.to(float32))

The operator record defines the cast (`OperatorRecord.autocast`), for all devices or per device:

    lower      to the device's lower-precision dtype (`set_lower_dtype`)
    float32    to float32, unless the call passes `dtype=`
    widest     to the widest dtype of the arguments
    ...        any other text is the message of an error

Floating tensors on the device are cast, except float64. While an operator with a cast runs, autocast is
disabled for the operators that it calls. Gradients are also computed through the cast.

The cast of a leaf that requires grad is cached. It is dropped at the end of the outermost block
(`increment_nesting`), or when the leaf is written in place.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

from ts._core.dispatch.arguments cimport spec_of_text
from ts._core.dispatch.operator cimport (
    AUTOCAST_KEY, MAX_BACKENDS, Operator, backend_at, call_after, invoke_after, register_key,
)
from ts._core.tensor.python_operators cimport operator_function
from ts._core.tensor.tensor cimport BACKEND_CPU, BACKEND_CUDA, BACKEND_META, Tensor, hides_elements, version_of
from ts._core.thread.context cimport AUTOCAST, GRAD_DISABLED, context_flags, set_flag
from ts._core.value.ivalue cimport IValue, TAG_NONE, box, copy_value, move_value, release, unbox

from ts import devices, dtypes

cdef extern from *:
    """
    static _Thread_local AutocastState autocast_flags;
    static _Thread_local PyObject *casts_here;      /* a dictionary, or NULL */
    """
    AutocastState autocast_flags
    PyObject *casts_here

cdef enum Kind:
    AS_IS = 0
    LOWER = 1
    FLOAT32 = 2
    WIDEST = 3
    UNSUPPORTED = 4

cdef dict _KINDS = {"": AS_IS, "lower": LOWER, "float32": FLOAT32, "widest": WIDEST}
cdef int FLOAT = dtypes.float32.code
cdef int MAX_NESTING_DEPTH = 1 << 20
cdef unsigned long long floats = 0     # bit mask of the dtypes that autocast casts. The number of a bit is the dtype code.
for _dtype in dtypes.ALL:
    if _dtype.is_floating_point and _dtype is not dtypes.float64:
        floats |= 1ULL << <int>_dtype.code


# ---------------------------------------------------------------- state of a thread

# device type -> lower-precision dtypes that autocast supports on the device, with the default dtype first
LOWER_DTYPES = {"cpu": (dtypes.bfloat16, dtypes.float16), "cuda": (dtypes.float16, dtypes.bfloat16)}
cdef dict backend_indices = {"cpu": BACKEND_CPU, "cuda": BACKEND_CUDA}
cdef int defaults[MAX_BACKENDS]
for _name, _lower in LOWER_DTYPES.items():
    defaults[<int>backend_indices[_name]] = _lower[0].code


def backend_index(str device not None, str message="unsupported scalarType"):
    """Return the backend number of a device for autocast.

    Raise RuntimeError(`message`) for an unsupported device.
    """
    index = backend_indices.get(devices.device(device).type)
    if index is None:
        raise RuntimeError(message)
    return index


cdef AutocastState exchange_autocast_flags(AutocastState others) noexcept:
    global autocast_flags
    cdef AutocastState before = autocast_flags
    autocast_flags = others
    return before


cdef AutocastState inherited_autocast_flags() noexcept:
    cdef AutocastState now = autocast_flags
    now.nesting = 0
    now.uncached = True
    return now


cdef int check_backend(int backend) except -1:
    if not 0 <= backend < MAX_BACKENDS:
        raise IndexError(f"unknown backend {backend}")
    return 0


cdef inline bint casts_on(int backend) noexcept:
    return (autocast_flags.enabled >> backend) & 1 != 0


def is_enabled(int backend):
    """Return whether autocast is enabled for a backend in this thread."""
    check_backend(backend)
    return casts_on(backend)


def set_enabled(int backend, bint on):
    """Enable or disable autocast for a backend in this thread."""
    check_backend(backend)
    if on:
        autocast_flags.enabled |= 1U << backend
    else:
        autocast_flags.enabled &= ~(1U << backend)
    set_flag(AUTOCAST, autocast_flags.enabled != 0)


def lower_dtype(int backend):
    """Return the lower-precision dtype of a backend in this thread."""
    check_backend(backend)
    return dtypes.BY_CODE[dtype_of(backend)]


def set_lower_dtype(int backend, dtype not None):
    """Set the lower-precision dtype of a backend in this thread."""
    check_backend(backend)
    autocast_flags.dtypes[backend] = dtype.code


def enter(int backend, dtype not None, bint on, bint cached):
    """Enter an autocast block and return the previous autocast state, which `leave` restores."""
    check_backend(backend)
    before = [casts_on(backend), autocast_flags.dtypes[backend], autocast_flags.uncached, autocast_flags.nesting]
    set_enabled(backend, on)
    set_lower_dtype(backend, dtype)
    autocast_flags.uncached = not cached
    autocast_flags.nesting += 1
    return before


def leave(int backend, list before not None):
    """Restore the autocast state `before`, the result of `enter`.

    After the outermost autocast block, also clear the cast cache.
    """
    check_backend(backend)
    if len(before) != 4 or before[1] not in dtypes.BY_CODE or not 0 <= before[3] <= MAX_NESTING_DEPTH:
        raise RuntimeError(f"invalid saved autocast state: {before}")
    on, dtype, uncached, autocast_flags.nesting = before
    if autocast_flags.nesting == 0:
        clear_cache()
    set_enabled(backend, on)
    autocast_flags.dtypes[backend] = dtype
    autocast_flags.uncached = uncached


class RestoreAutocastState:
    """Context manager that saves the autocast state when it is created, and applies this state in a `with` block."""

    def __init__(self):
        cached = is_cache_enabled()
        self.saved_states = [(i, dtypes.BY_CODE[dtype_of(i)], casts_on(i), cached) for i in backend_indices.values()]
        self.before = []

    def __enter__(self):
        self.before.append([enter(*switches) for switches in self.saved_states])

    def __exit__(self, kind, error, trace):
        before = self.before.pop()
        for i in reversed(range(len(before))):
            leave(self.saved_states[i][0], before[i])


def increment_nesting():
    """Increment the nesting depth of autocast blocks in this thread, and return the new depth."""
    autocast_flags.nesting += 1
    return autocast_flags.nesting


def decrement_nesting():
    """Decrement the nesting depth of autocast blocks in this thread, and return the new depth."""
    autocast_flags.nesting -= 1
    return autocast_flags.nesting


def is_cache_enabled():
    """Return whether casts of leaves that require grad are cached in this thread."""
    return not autocast_flags.uncached


def set_cache_enabled(bint on):
    """Enable or disable the cast cache of this thread."""
    autocast_flags.uncached = not on


def clear_cache():
    """Clear the cast cache of this thread."""
    global casts_here
    cdef PyObject *before = casts_here
    casts_here = NULL
    Py_XDECREF(before)


cdef inline int dtype_of(int backend) noexcept:
    return autocast_flags.dtypes[backend] or defaults[backend]


# ---------------------------------------------------------------- autocast rule of an operator

cdef class CastPolicy:
    """Autocast rule of an operator record, for each backend."""
    cdef int kinds[MAX_BACKENDS]
    cdef int dtype_at                  # number of the argument `dtype=`, or -1 if there is none
    cdef dict error_messages                     # number of a backend on which autocast forbids the operator -> error message


cdef CastPolicy casts_of(Operator op):
    """Return the autocast rule of an operator. It is read from the operator record at the first call."""
    if op.casts is None:
        op.casts = read_casts(op)
    return <CastPolicy>op.casts


cdef CastPolicy read_casts(Operator op):
    cdef CastPolicy casts = CastPolicy()
    cdef int i
    rule = op.record.autocast
    names = [p.name for p in op.signature.parameters]
    casts.dtype_at = names.index("dtype") if "dtype" in names else -1
    casts.error_messages = {}
    for i in range(MAX_BACKENDS):
        casts.kinds[i] = AS_IS
    for name, i in backend_indices.items():
        kind_or_error = rule if isinstance(rule, str) else rule.get(name, "")
        casts.kinds[i] = _KINDS.get(kind_or_error, UNSUPPORTED)
        if casts.kinds[i] == UNSUPPORTED:
            casts.error_messages[i] = kind_or_error
    return casts


# ---------------------------------------------------------------- converting arguments

cdef int element_backend(Tensor t) except -1:
    """Return the backend number of a tensor, ignoring the wrappers of function transforms.

    For a tensor that function transforms have wrapped, this is the backend of the innermost tensor.
    """
    while t.backend == BACKEND_META and hides_elements(t):
        t = <Tensor>t.history.layer.inner
    return t.backend


cdef inline bint may_cast(Tensor t, int backend) except -1:
    return (floats >> t.scalar_type) & 1 != 0 and element_backend(t) == backend


cdef int target(int kind, list values, int backend) except -1:
    """Return the dtype to which the autocast rule `kind` casts the tensors in `values`."""
    cdef int lower = dtype_of(backend)
    if kind == FLOAT32:
        return FLOAT
    if kind == LOWER:
        return lower
    for x in tensors_of(values):
        if not may_cast(<Tensor>x, backend):
            continue
        if (<Tensor>x).scalar_type == FLOAT:
            return FLOAT
        if (<Tensor>x).scalar_type != lower:
            raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return lower


cdef list tensors_of(list values):
    cdef list tensors = []
    for x in values:
        if isinstance(x, Tensor):
            tensors.append(x)
        elif type(x) is list:
            tensors.extend([y for y in <list>x if isinstance(y, Tensor)])
    return tensors


cdef object cast_tensors(object x, int backend, int to):
    """Return a value with its tensors cast to dtype `to`, or the value itself if no tensor is cast."""
    if isinstance(x, Tensor):
        return cast_tensor(<Tensor>x, to) if may_cast(<Tensor>x, backend) and (<Tensor>x).scalar_type != to else x
    if type(x) is list:
        changed = [cast_tensors(y, backend, to) for y in <list>x]
        return changed if any([y is not z for y, z in zip(<list>x, changed)]) else x
    return x


cdef Tensor cast_tensor(Tensor t, int to):
    """Cast a tensor to the dtype `to`.

    The result is cached if the tensor is a float32 leaf that requires grad.
    """
    global casts_here
    cdef bint is_cacheable
    is_cacheable = t.requires_grad_flag and t.scalar_type == FLOAT and t.base is None and not autocast_flags.uncached and (
        t.history is None or t.history.node is None and t.history.layer is None
    )
    if not is_cacheable:
        return operator_function("to")(t, dtypes.BY_CODE[to])
    key = id(t), to, context_flags() & GRAD_DISABLED
    if casts_here == NULL:
        fresh = {}
        Py_INCREF(fresh)
        casts_here = <PyObject *>fresh
    cached = (<dict>casts_here).get(key)
    if cached is not None and cached[1] == version_of(t):
        return cached[2]
    result = operator_function("to")(t, dtypes.BY_CODE[to])
    if casts_here != NULL:             # A hook that ran during the cast may have cleared the cache.
        # The cache key contains the memory address of `t`. The entry keeps `t` alive, so that no other tensor
        # gets this address.
        (<dict>casts_here)[key] = t, version_of(t), result
    return result


def cast_arguments(Operator op not None, list values not None):
    """Return `values` (one per parameter) after the casts that the autocast rule of the operator requires.

    If autocast is disabled in this thread, return `values` unchanged.
    """
    if not context_flags() & AUTOCAST or op.record is None:
        return values
    return cast_list(op, values, first_backend(op, values))


cdef int first_backend(Operator op, list values) except -1:
    tensors = tensors_of([values[op.tensor_at]]) if op.tensor_at >= 0 else []
    return element_backend(<Tensor>tensors[0]) if tensors else 0


cdef list cast_list(Operator op, list values, int backend):
    cdef CastPolicy casts = casts_of(op)
    cdef int kind = casts.kinds[backend] if casts_on(backend) else AS_IS
    cdef int to
    if kind == UNSUPPORTED:
        raise RuntimeError(casts.error_messages[backend])
    if kind == AS_IS or kind == FLOAT32 and casts.dtype_at >= 0 and values[casts.dtype_at] is not None:
        return values
    to = target(kind, values, backend)
    before = set_flag(AUTOCAST, False)
    try:
        # Cast the last argument first. PyTorch casts in this order, too, so traces contain the casts in the
        # same order.
        return [cast_tensors(x, backend, to) for x in reversed(values)][::-1]
    finally:
        set_flag(AUTOCAST, before)


# ---------------------------------------------------------------- calls of operators with autocast

cdef bint is_left_on(Operator op, int backend) except -1:
    """Return whether autocast stays enabled while `op` runs.

    This applies to a composite operator to which no autocast rule applies.
    """
    return op.tensor_kernel and (not casts_on(backend) or casts_of(op).kinds[backend] == AS_IS)


cdef int invoke(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    cdef int backend = backend_at(op, r, at)
    if backend == BACKEND_META:
        tensors = tensors_of([box(&r[at[op.tensor_at]])])
        backend = element_backend(<Tensor>tensors[0]) if tensors else backend
    if is_left_on(op, backend):
        return invoke_after(AUTOCAST_KEY, op, r, at, code, instruction)
    if not casts_on(backend) or casts_of(op).kinds[backend] == AS_IS:
        set_flag(AUTOCAST, False)
        try:
            return invoke_after(AUTOCAST_KEY, op, r, at, code, instruction)
        finally:
            set_flag(AUTOCAST, True)
    return invoke_converted(op, r, at, backend, code, instruction)


cdef int invoke_converted(
    Operator op, IValue *r, const int32_t *at, int backend, PyObject *code, const void *instruction
) except -1:
    """Run the operator with cast arguments, which are stored in separate registers."""
    cdef int i, n = op.nargs
    cdef list args = [box(&r[at[i]]) for i in range(n)]
    cdef list values = cast_list(op, args, backend)
    cdef IValue *own = <IValue *>calloc(n + op.nrets + 1, sizeof(IValue))
    cdef int32_t *own_at = <int32_t *>calloc(n + op.nrets + 1, sizeof(int32_t))
    set_flag(AUTOCAST, False)
    try:
        if own == NULL or own_at == NULL:
            raise MemoryError()
        for i in range(n + op.nrets):
            own[i].tag = TAG_NONE
            own_at[i] = i
        for i in range(n):
            if values[i] is args[i]:
                copy_value(&own[i], &r[at[i]])
            else:
                unbox(values[i], spec_of_text(op.signature.parameters[i].kind), &own[i])
        invoke_after(AUTOCAST_KEY, op, own, own_at, code, instruction)
        for i in range(op.nrets):
            move_value(&r[at[n + i]], &own[n + i])
            own[n + i].tag = TAG_NONE
    finally:
        set_flag(AUTOCAST, True)
        if own != NULL:
            for i in range(n + op.nrets):
                release(&own[i])
        free(own)
        free(own_at)
    return 0


cdef object call(Operator op, list args):
    cdef int backend = first_backend(op, args)
    if is_left_on(op, backend):
        return call_after(AUTOCAST_KEY, op, args)
    args = cast_list(op, args, backend)
    set_flag(AUTOCAST, False)
    try:
        return call_after(AUTOCAST_KEY, op, args)
    finally:
        set_flag(AUTOCAST, True)


register_key(AUTOCAST_KEY, AUTOCAST, invoke, call)
