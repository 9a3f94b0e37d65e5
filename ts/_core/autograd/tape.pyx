"""Autograd tape (gradient tape) of reverse mode, which records operators whose inputs require grad.

Input: an operator and its registers. Output: the operator's results, whose `grad_fn` is the recorded node.
For y = x * w, the node is:

    MulBackward0    edges: the AccumulateGrad nodes of x and w
                    saved: x and w, with their version counters

The node saves arguments before the operator runs, and results after it. A saved result has no history,
because the history refers to the node. Reading the saved result restores the history.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc

from ts._core.autograd cimport rule as rules
from ts._core.autograd.anomaly cimport save_traceback, searching
from ts._core.autograd.history cimport check_write_to, connect_to, is_differentiable, rebase_history, set_history, set_history_of_reshaped
from ts._core.autograd.node cimport Node, expect, make_results, make_room, next_sequence
from ts._core.autograd.operator_node cimport MAX_PARAMETERS, OperatorNode, missing_node, operator_node, run_formula
from ts._core.autograd.rule cimport (
    ARGUMENT, BY_FORMULA, BY_DECOMPOSITION, COMPLEX, COUNT, Formula, GRADIENT, GRAPH, INSIDE, LEFT, OFFSET, PLAIN, RANK, UNSUPPORTED, RESULT, RESULTS, Rule, SIZE, STRIDE,
    Source, REQUIRES_GRAD, rule_of,
)
from ts._core.autograd.saved cimport NO_RESULT, Saved, save_several, save_tensor
from ts._core.dispatch.operator cimport AUTOGRAD_KEY, Operator, invoke_after, register_key
from ts._core.tensor.python_operators cimport operator_function
from ts._core.tensor.tensor cimport DEFAULT, ONE_OF_SEVERAL, Tensor, version_of, needs_grad, wrap_array
from ts._core.thread.context cimport GRAD_DISABLED, set_flag
from ts._core.value.container cimport List, Tuple, list_item
from ts._core.value.ivalue cimport (
    BOOL_SPEC, INT_SPEC, IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE, TAG_OBJECT, box, copy_value, list_spec, move_value, release,
    set_bool, set_int, set_none, set_object, unbox,
)

import numpy as np

from ts.errors import InternalError


# ---------------------------------------------------------------- recording of operator calls

cdef Rule rule_for(Operator op):
    if op.rule is None:
        op.rule = rule_of(op.record)
    return <Rule>op.rule


cdef inline bint is_tensor(IValue *x) noexcept:
    cdef PyObject *o = x.v.o           # a local variable, because Cython's isinstance then does not count references
    if x.tag == TAG_OBJECT and o != NULL:
        if isinstance(<object>o, Tensor):
            return True
    return False


cdef inline bint is_list(IValue *x) noexcept:
    cdef PyObject *o = x.v.o
    if x.tag == TAG_OBJECT and o != NULL:
        if type(<object>o) is List:
            return True
    return False


cdef inline bint requires_grad_value(IValue *x) noexcept:
    """Return whether an argument is a tensor that requires grad, or a list with such a tensor."""
    if is_tensor(x):
        return needs_grad(<Tensor>x.v.o)
    return is_list(x) and requires_grad_item(x.v.o)


cdef bint requires_grad_item(PyObject *items) noexcept:
    cdef IValue item
    cdef Py_ssize_t k
    for k in range((<List>items).size):
        item = list_item(items, k)
        if is_tensor(&item) and needs_grad(<Tensor>item.v.o):
            return True
    return False


cdef bint requires_grad_any(Operator op, IValue *r, const int32_t *at) noexcept:
    cdef int i
    for i in range(op.nargs):
        if requires_grad_value(&r[at[i]]):
            return True
    return False


cdef uint64_t requires_grad_mask(Rule rule, IValue *r, const int32_t *at) except? 0:
    cdef uint64_t bits = 0
    cdef int i
    for i in range(rule.input_count):
        if requires_grad_value(&r[at[rule.input_at[i]]]):
            bits |= <uint64_t>1 << i
    return bits


cdef int invoke_with_tape(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    cdef Rule rule = rule_for(op)
    cdef uint64_t grad_mask
    cdef Node node
    cdef bint before
    cdef int i
    if rule.how == PLAIN or rule.how == INSIDE:
        return invoke_after(AUTOGRAD_KEY, op, r, at, code, instruction)
    if rule.how == LEFT:
        return leave(op, r, at)
    grad_mask = requires_grad_mask(rule, r, at)
    if grad_mask == 0 and not requires_grad_any(op, r, at):
        return invoke_after(AUTOGRAD_KEY, op, r, at, code, instruction)
    if rule.how == GRAPH:
        return rules.invoke_graph(op, rule, r, at)
    if rule.how == BY_DECOMPOSITION:
        return run_decomposition(op, rule, r, at)
    if rule.how == UNSUPPORTED:
        raise RuntimeError(rule.error_message)
    if rule.written >= 0 and is_tensor(&r[at[rule.written]]):
        check_write_to(<Tensor>r[at[rule.written]].v.o)
    if rule.how == BY_FORMULA and grad_mask == 0:
        return invoke_after(AUTOGRAD_KEY, op, r, at, code, instruction)
    node = record_node(op, rule, grad_mask, r, at) if rule.how == BY_FORMULA else record_missing_node(op, r, at)
    if searching:
        save_traceback(node, code, instruction)
    if not op.tensor_kernel:
        invoke_after(AUTOGRAD_KEY, op, r, at, code, instruction)
    else:                              # The kernel may call other operators, which must not be recorded.
        before = set_flag(GRAD_DISABLED, True)
        try:
            invoke_after(AUTOGRAD_KEY, op, r, at, code, instruction)
        finally:
            set_flag(GRAD_DISABLED, before)
    if rule.how == BY_FORMULA and rule.written < 0 and not rule.lists and not (<OperatorNode>node).formula.reads_results:
        adopt_results(op, rule, node, r, at)
        return 0
    try:
        settle(op, rule, node, r, at)
    except BaseException:              # A hook raised an exception: release the results.
        for i in range(op.nrets):
            set_none(&r[at[op.nargs + i]])
        raise
    return 0


cdef int leave(Operator op, IValue *r, const int32_t *at) except -1:
    """Report that a fusion group or differentiable graph did not run: set the first result to False.

    The other results are set to one of the tensor arguments, and the caller ignores them.
    """
    cdef int i
    cdef IValue any
    any.tag = TAG_NONE
    for i in range(op.nargs):
        if is_tensor(&r[at[i]]):
            copy_value(&any, &r[at[i]])
            break
    set_bool(&r[at[op.nargs]], False)
    for i in range(1, op.nrets):
        copy_value(&r[at[op.nargs + i]], &any)
    release(&any)
    return 0


cdef int run_decomposition(Operator op, Rule rule, IValue *r, const int32_t *at) except -1:
    cdef IValue values[MAX_PARAMETERS]
    cdef IValue result
    cdef Tuple several
    cdef int i
    if op.nargs > MAX_PARAMETERS:
        raise InternalError(f"{op.name} has {op.nargs} arguments; the maximum is {MAX_PARAMETERS}")
    for i in range(op.nargs):
        values[i] = r[at[i]]
    result.tag = TAG_NONE
    failure = None
    try:
        run_formula(rule.decomposition, values, &result)
    except Exception as error:
        failure = error
    if failure is not None:            # The code is outside of the except block, so that the exceptions are not chained.
        # The decomposition has raised an error. Run the kernel, too, because it may raise a more specific
        # error.
        invoke_after(AUTOGRAD_KEY, op, r, at, NULL, NULL)
        raise failure
    if op.nrets == 1:
        move_value(&r[at[op.nargs]], &result)
        return 0
    several = <Tuple>result.v.o
    for i in range(op.nrets):
        copy_value(&r[at[op.nargs + i]], &several.items[i])
    release(&result)
    return 0


cdef OperatorNode record_node(Operator op, Rule rule, uint64_t grad_mask, IValue *r, const int32_t *at):
    """Create the backward node of an operator call, with its edges and saved arguments."""
    cdef Formula f = rule.last if rule.last is not None and rule.last_grad_mask == grad_mask else rule.formula(grad_mask)
    cdef OperatorNode node = operator_node(rule, f)
    cdef IValue *x
    cdef int i
    for i in range(rule.input_count):
        if is_list(&r[at[rule.input_at[i]]]):
            connect_lists(node, rule, r, at)
            break
    else:
        make_room(node, rule.input_count, 0)
        for i in range(rule.input_count):
            x = &r[at[rule.input_at[i]]]
            if is_tensor(x):
                connect_to(node, i, <Tensor>x.v.o)
    node.sequence = next_sequence()
    for i in range(f.count):
        if f.sources[i].origin == ARGUMENT:
            save_argument(node, i, rule, op, r, at)
        elif f.sources[i].origin != GRADIENT:
            save_early(node, i, op, r, at)
    return node


cdef int connect_lists(OperatorNode node, Rule rule, IValue *r, const int32_t *at) except -1:
    """Connect the arguments to edges: one edge per tensor, and one per item of a tensor list."""
    cdef IValue *x
    cdef int i, edges = 0
    node.starts = <int *>calloc(rule.input_count, sizeof(int))
    if node.starts == NULL:
        raise MemoryError()
    for i in range(rule.input_count):
        x = &r[at[rule.input_at[i]]]
        node.starts[i] = edges
        edges += <int>(<List>x.v.o).size if is_list(x) else 1
    make_room(node, edges, 0)
    for i in range(rule.input_count):
        connect_input(node, node.starts[i], &r[at[rule.input_at[i]]])
    return 0


cdef Node record_missing_node(Operator op, IValue *r, const int32_t *at):
    """Create a MissingNode with edges to the nodes of all arguments.

    The node raises an error when backward reaches it.
    """
    cdef Node node
    cdef int i, edges = 0
    for i in range(op.nargs):
        edges += <int>(<List>r[at[i]].v.o).size if is_list(&r[at[i]]) else 1
    node = missing_node(op.name, edges)
    edges = 0
    for i in range(op.nargs):
        edges += connect_input(node, edges, &r[at[i]])
    node.sequence = next_sequence()    # assigned last, because AccumulateGrad nodes that `connect_input` creates must have lower numbers
    return node


cdef int connect_input(Node node, int edge, IValue *x) except -1:
    """Connect edge number `edge` of `node` to the argument `x`.

    If `x` is a list, connect one edge per item, from number `edge` on. Return the number of edges.
    """
    cdef Py_ssize_t k
    cdef IValue item
    if is_list(x):
        for k in range((<List>x.v.o).size):
            item = list_item(x.v.o, k)
            if is_tensor(&item):
                connect_to(node, edge + <int>k, <Tensor>item.v.o)
        return <int>(<List>x.v.o).size
    if is_tensor(x):
        connect_to(node, edge, <Tensor>x.v.o)
    return 1


cdef int save_argument(OperatorNode node, int i, Rule rule, Operator op, IValue *r, const int32_t *at) except -1:
    cdef Source *source = &node.formula.sources[i]
    cdef Saved *saved = &node.saved[i]
    cdef IValue *x = &r[at[source.at]]
    if is_tensor(x):
        save_tensor(saved, clone_tensor(<Tensor>x.v.o) if source.at == rule.written else <Tensor>x.v.o, NO_RESULT)
    elif source.as_tensor and x.tag != TAG_NONE:
        set_object(&saved.value, number_tensor(x))
    elif is_list(x) and (<List>x.v.o).item == TAG_NONE:
        save_list(saved, <List>x.v.o, False)
    else:
        copy_value(&saved.value, x)
    return 0


cdef int save_early(OperatorNode node, int i, Operator op, IValue *r, const int32_t *at) except -1:
    """Save the value of formula parameter `i` before the operator runs.

    Do nothing unless the parameter is REQUIRES_GRAD or a property of an argument.
    """
    cdef Source *source = &node.formula.sources[i]
    if source.origin == REQUIRES_GRAD:
        unbox(list(node.formula.requires_grad), list_spec(BOOL_SPEC), &node.saved[i].value)
    elif source.origin >= SIZE and source.at < op.nargs:
        save_fact(source.origin, &r[at[source.at]], &node.saved[i].value)
    return 0


cdef int save_list(Saved *saved, List items, bint are_results) except -1:
    """Save a list: a copy if it contains tensors, because programs may change it, else the list itself."""
    cdef IValue item
    cdef Py_ssize_t k
    for k in range(items.size):
        item = list_item(<PyObject *>items, k)
        if is_tensor(&item):
            several = save_several(items, are_results)
            set_object(&saved.value, several)
            return 0
    set_object(&saved.value, items)
    return 0


cdef Tensor clone_tensor(Tensor t):
    """Return a copy of a tensor before an operator writes to the tensor in place.

    The copy has the autograd history of the tensor, and is saved in its place.
    """
    return operator_function("clone")(t)


cdef Tensor number_tensor(IValue *x):
    if x.tag == TAG_BOOL:
        return wrap_array(np.asarray(bool(x.v.i)))
    if x.tag == TAG_INT:
        return wrap_array(np.asarray(<int64_t>x.v.i))
    return wrap_array(np.asarray(x.v.f if x.tag == TAG_FLOAT else <object>x.v.o))


cdef int save_fact(int what, IValue *x, IValue *out) except -1:
    """Store the property `what` (SIZE, STRIDE, RANK, DTYPE, COUNT, COMPLEX, OFFSET) of a tensor in `out`, for a formula."""
    cdef Tensor t
    if is_list(x):
        unbox([list((<Tensor?>y).array.shape) for y in box(x)], list_spec(list_spec(INT_SPEC)), out)
        return 0
    if not is_tensor(x):                       # a number or None, which calls may pass for a tensor
        t = number_tensor(x) if x.tag != TAG_NONE else None
    else:
        t = <Tensor>x.v.o
    if t is None:
        set_none(out)
    elif what == SIZE:
        unbox(list(t.array.shape), list_spec(INT_SPEC), out)
    elif what == STRIDE:
        unbox(list(t.stride()), list_spec(INT_SPEC), out)
    elif what == RANK:
        set_int(out, t.array.ndim)
    elif what == COUNT:
        set_int(out, t.array.size)
    elif what == COMPLEX:
        set_bool(out, t.dtype.is_complex)
    elif what == OFFSET:
        set_int(out, t.storage_offset())
    else:
        set_int(out, t.scalar_type)
    return 0


# ---------------------------------------------------------------- results of recorded operators

cdef int settle(Operator op, Rule rule, Node node, IValue *r, const int32_t *at) except -1:
    """Attach the results to the node, and save the results that the node's formula reads."""
    cdef IValue *x
    cdef IValue item
    cdef Py_ssize_t k, n
    if rule.lists:
        x = &r[at[op.nargs]]
        n = (<List>x.v.o).size if is_list(x) else 0
        make_results(node, n)
        for k in range(n):
            item = list_item(x.v.o, k)
            if is_tensor(&item):
                adopt(rule, node, <Tensor>item.v.o, k, None)
    else:
        adopt_results(op, rule, node, r, at)
    if type(node) is OperatorNode:
        save_results(<OperatorNode>node, op, r, at)
    return 0


cdef int adopt_results(Operator op, Rule rule, Node node, IValue *r, const int32_t *at) except -1:
    cdef IValue *x
    cdef int i
    make_results(node, max(op.nrets, 1))
    if op.nrets == 0 and rule.written >= 0:
        adopt(rule, node, <Tensor>r[at[rule.written]].v.o, 0, None)
    for i in range(op.nrets):
        x = &r[at[op.nargs + i]]
        if rule.result_bits >> i & 1 and is_tensor(x):
            adopt(rule, node, <Tensor>x.v.o, i, <Tensor>r[at[0]].v.o if is_tensor(&r[at[0]]) else None)
    return 0


cdef int adopt(Rule rule, Node node, Tensor t, Py_ssize_t output, Tensor first) except -1:
    """Attach a tensor that the operator created or modified to the node as result number `output`.

    `first` is the first argument of the operator. A result that is a view is a view of this argument.
    """
    if not is_differentiable(t):
        return 0
    expect(node, output, t)
    if rule.written >= 0:
        if rule.reshapes:
            return set_history_of_reshaped(t, node, output)
        return rebase_history(t, node, output, edge_of_input(rule, node))
    # A result that already requires grad is an argument of the operator. Its autograd history must not be
    # changed.
    if t.requires_grad_flag:
        return 0
    set_history(t, node, output)
    if t.base is not None:
        t.version = version_of(t)
        # The kernel may have created the view with gradients disabled.
        if rule.lists:
            t.creation = ONE_OF_SEVERAL
        else:
            t.creation = first.creation if first is not None and first.base is t.base else DEFAULT
    return 0


cdef int edge_of_input(Rule rule, Node node) except? -2:
    """Return the edge number of the argument that the operator writes in place, or -1 without such an edge."""
    if type(node) is not OperatorNode or rule.written not in rule.inputs:
        return -1
    i = rule.inputs.index(rule.written)
    return (<OperatorNode>node).starts[<int>i] if (<OperatorNode>node).starts != NULL else i


cdef int save_results(OperatorNode node, Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *x
    cdef int i
    for i in range(node.formula.count):
        if node.formula.sources[i].origin >= SIZE:
            if node.formula.sources[i].at >= op.nargs:
                save_fact(node.formula.sources[i].origin, &r[at[node.formula.sources[i].at]], &node.saved[i].value)
        elif node.formula.sources[i].origin == RESULT:
            x = &r[at[op.nargs + node.formula.sources[i].at]] if op.nrets else &r[at[node.rule.written]]
            if is_tensor(x):
                save_tensor(&node.saved[i], <Tensor>x.v.o, node.formula.sources[i].at)
            else:
                copy_value(&node.saved[i].value, x)
        elif node.formula.sources[i].origin == RESULTS:
            save_list(&node.saved[i], <List>r[at[op.nargs]].v.o, True)
    return 0


register_key(AUTOGRAD_KEY, 0, invoke_with_tape, NULL)
