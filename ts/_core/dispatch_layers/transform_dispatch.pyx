"""Transform dispatch: decides whether an operator runs at the level of its tensors' layers before or after
autograd.

Autograd runs first only if a tensor argument of the highest level requires grad. Examples for `x * y`, where
`x` is a leaf that requires grad:

    y is batched      batching runs first, then autograd records the operator on the inner tensors
    x is batched      autograd runs first, and saves tensors with their layers

A differentiated function must not write to tensors of the enclosing code (captured tensors).
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t

from ts._core.autograd.rule cimport GRAPH, LEFT, Rule, rule_of
from ts._core.autograd.tape cimport leave
from ts._core.dispatch.operator cimport (
    CAPTURE_KEY, INNER_TRANSFORM_KEY, TRANSFORM_KEY, Operator, call_after, invoke_after, register_key, requires_gradient, run_in_python
)
from ts._core.dispatch_layers.layer cimport Layer
from ts._core.late_binding import resolve
from ts._core.tensor.tensor cimport Tensor, is_layered, needs_grad
from ts._core.thread.context cimport DIFFERENTIATED, DISPATCH_MODES, LAYERED, context, context_flags, differentiating, set_flag, set_process_flag
from ts._core.value.container cimport List
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT

cdef enum:
    # Level of tensors whose class defines `__torch_dispatch__`. `level_stack.py` has the same constant.
    SUBCLASSES = 2


def set_dispatch_modes(bint on):
    """Set whether operators on levels up to SUBCLASSES call the dispatch modes of this thread."""
    set_flag(DISPATCH_MODES, on)


def watch_all_threads():
    """Enable transform dispatch in all threads.

    Tensors of the level SUBCLASSES can occur in each thread, so a flag of one thread is insufficient.
    """
    set_process_flag(LAYERED)


def enable_transform_dispatch(bint on):
    """Enable or disable transform dispatch in this thread, and return the previous state."""
    return bool(set_flag(LAYERED, on))


cdef inline int level_of(Tensor t) noexcept:
    """Return the level of a tensor's layer. For a view without a layer, return the level of its base."""
    if is_layered(t) and isinstance(t.history.layer, Layer):
        return (<Layer>t.history.layer).level
    if t.base is None:
        return 0
    cdef int level = level_of(t.base)
    # A view does not inherit the level SUBCLASSES from its base. The `__torch_dispatch__` handler of the base
    # has created the view, so the class of the view determines whether the view has a layer.
    return 0 if level == SUBCLASSES else level


cdef int highest(Operator op, IValue *r, const int32_t *at, int own) noexcept:
    """Return the highest level of the tensor arguments if `own` is 0.

    If `own` is a level, return 1 if a tensor argument of this level requires grad, else 0. For the level
    SUBCLASSES, tensors of all levels count, because autograd runs before `__torch_dispatch__`.
    """
    cdef int i, result = 0
    cdef Py_ssize_t k
    cdef IValue *items
    for i in range(op.nargs):
        if r[at[i]].tag != TAG_OBJECT or r[at[i]].v.o == NULL:
            continue
        if isinstance(<object>r[at[i]].v.o, Tensor):
            result = merge_level(<Tensor>r[at[i]].v.o, result, own)
        elif type(<object>r[at[i]].v.o) is List and (<List>r[at[i]].v.o).item == TAG_NONE:
            items = <IValue *>(<List>r[at[i]].v.o).items
            for k in range((<List>r[at[i]].v.o).size):
                if items[k].tag == TAG_OBJECT and items[k].v.o != NULL and isinstance(<object>items[k].v.o, Tensor):
                    result = merge_level(<Tensor>items[k].v.o, result, own)
    return result


cdef bint is_recorded_at_level(Operator op, IValue *r, const int32_t *at, int level) noexcept:
    """Return whether autograd must record an operator whose arguments have `level` as their highest level.

    Level 0 means that no argument has a layer. The result is then True.
    """
    return level == 0 or highest(op, r, at, level) != 0


cdef inline int merge_level(Tensor t, int result, int own) noexcept:
    if own:
        return result or ((own == SUBCLASSES or level_of(t) == own) and needs_grad(t))
    return max(result, level_of(t))


cdef int invoke(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    cdef bint requires_grad = differentiating(context_flags()) and requires_gradient(op, r, at)
    if run_on_layers(op, r, at, requires_grad):
        return 0
    return invoke_after(TRANSFORM_KEY, op, r, at, code, instruction)


cdef int invoke_below_tape(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    if run_on_layers(op, r, at, False):
        return 0
    return invoke_after(INNER_TRANSFORM_KEY, op, r, at, code, instruction)


cdef bint run_on_layers(Operator op, IValue *r, const int32_t *at, bint requires_grad) except -1:
    """Run the operator at the highest level of the arguments' layers, and return True.

    If no argument has a layer, or autograd must record the operator first, return False without running the
    operator.
    """
    cdef int level = highest(op, r, at, 0)
    cdef bint dispatches_to_python = level == SUBCLASSES or (level < SUBCLASSES and context_flags() & DISPATCH_MODES != 0)
    if (level or dispatches_to_python) and op.tensor_kernel:
        if op.rule is None:
            op.rule = rule_of(op.record)
        if (<Rule>op.rule).how == LEFT or (<Rule>op.rule).how == GRAPH:
            leave(op, r, at)
            return True
    if dispatches_to_python:
        if requires_grad and is_recorded_at_level(op, r, at, level) and not resolve("torch_dispatch").is_composite(op):
            return False
        run_in_python(op, run, r, at)
        return True
    if level == 0:
        if not op.record.nondeterministic:
            return False
    elif requires_grad and highest(op, r, at, level):
        return False
    run_in_python(op, run, r, at)
    return True


cdef object run(Operator op, list args):
    return resolve("run_on_levels")(op, args, top_of(args))


cdef int top_of(list args) except -1:
    cdef int result = 0
    for x in args:
        if isinstance(x, Tensor):
            result = max(result, level_of(<Tensor>x))
        elif type(x) is list:
            result = max(result, top_of(<list>x))
    return result


cdef enum WriteKind:
    WRITES_NONE = 0
    IN_PLACE = 1                       # returns its first argument, and writes this argument and no other
    WRITES_OTHERS = 2                  # writes other arguments, such as `out` or a list of tensors


cdef int kind_of_write(Operator op) except -1:
    if op.write_kind < 0:
        arguments, _, returned = op.schema_text.rpartition(" -> ")
        writes = arguments.count("!)")
        in_place = writes == 1 and "(Tensor(a!) " in arguments and returned.startswith("Tensor(a!)")
        op.write_kind = IN_PLACE if in_place else WRITES_OTHERS if writes else WRITES_NONE
    return op.write_kind


cdef int check_target(Operator op, object target) except -1:
    """Raise RuntimeError if `target`, the first argument of an in-place operator, is a captured tensor."""
    if not isinstance(target, Tensor) or (<Tensor>target).transform >= context().min_writable_transform:
        return 0
    name = f"{op.name}.{op.overload}" if op.overload else op.name
    # The Python method in PyTorch converts the number to a tensor, and then calls the overload `Tensor`.
    if op.overload == "Scalar" and op.record.wraps_numbers:
        name = f"{op.name}.Tensor"
    raise RuntimeError(
        f"During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation ({name}) that "
        "would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to explicitly accept "
        "the mutated Tensor(s) as inputs."
    )


cdef int invoke_checked(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    """Run an operator inside of a differentiated function, after the check of the tensor that it writes.

    As in PyTorch, operators that write other arguments are allowed, and so are the in-place operators that they call.
    """
    cdef int kind = kind_of_write(op)
    if kind == IN_PLACE and r[at[0]].tag == TAG_OBJECT and r[at[0]].v.o != NULL:
        check_target(op, <object>r[at[0]].v.o)
    if kind != WRITES_OTHERS:
        return invoke_after(CAPTURE_KEY, op, r, at, code, instruction)
    before = context().min_writable_transform
    context().min_writable_transform = 0
    try:
        return invoke_after(CAPTURE_KEY, op, r, at, code, instruction)
    finally:
        context().min_writable_transform = before


cdef object call_checked(Operator op, list args):
    if kind_of_write(op) == IN_PLACE:
        check_target(op, args[0])
    return call_after(CAPTURE_KEY, op, args)


register_key(CAPTURE_KEY, DIFFERENTIATED, invoke_checked, call_checked)
register_key(TRANSFORM_KEY, LAYERED, invoke, run)
register_key(INNER_TRANSFORM_KEY, LAYERED, invoke_below_tape, NULL)
