"""The tape: what `invoke` does with an operator that takes a tensor that wants a gradient.

In: an operator and its registers; out: its results, which are results of a node from then on.

    y = x * w        MulBackward0    edges -> AccumulateGrad of x, of w
                                     saved -> x and w, with the versions of their memory

A formula's parameters that are not gradients are saved: arguments before the operator runs, results behind.  A result is
saved without its history, which leads back to the node, and gets it again when it is unpacked.

A view that is written in place changes its base, so the base becomes the result of a node (`views.pyx`) and the
views of it look for their node again when somebody asks.
"""

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from numpy cimport npy_intp

from ts._core.autograd.node cimport Expected, Node, connect, expect, make_room, next_sequence
from ts._core.autograd.rule cimport (
    ARGUMENT, BY_FORMULA, BY_PARTS, COMPLEX, COUNT, Formula, GRADIENT, GRADIENTS, INSIDE, LEFT, MISSING, PLAIN, RANK, REFUSED, RESULT,
    RESULTS, Rule, SIZE, STRIDE, Source, WANTED, rule_of,
)
from ts._core.autograd.views cimport node_of_whole, view_node, written_view
from ts._core.dispatch cimport operator
from ts._core.dispatch.operator cimport Operator, invoke_seen
from ts._core.tensor.tensor cimport (
    DEFAULT, History, ONE_OF_SEVERAL, Tensor, backend_registry, detached_from, history_of, is_rebased, operator_function, set_node_of_view, version_of,
    wants, wrap,
)
from ts._core.thread.context cimport GRAD_DISABLED, context_flags, set_flag
from ts._core.value.container cimport List, Tuple, list_item, list_new, list_store
from ts._core.value.ivalue cimport (
    BOOL_SPEC, INT_SPEC, IValue, TAG_BOOL, TAG_FLOAT, TAG_INT, TAG_NONE, TAG_OBJECT, TENSOR_SPEC, box, copy_value, list_spec,
    move_value, release, retain, set_bool, set_int, set_none, set_object, set_object_steal, unbox,
)
from ts._core.value.sealed cimport seal
from ts._core.vm.function cimport Function

import numpy as np

from ts import devices, dtypes
from ts.errors import InternalError

cnp.import_array()

cdef enum:
    UNCHECKED = -1                     # version of what is no tensor
    MOST_PARAMETERS = 64


# ---------------------------------------------------------------- nodes of operators

@cython.trashcan(True)
cdef class OperatorNode(Node):
    """The way back through an operator that has a formula."""

    cdef Rule rule
    cdef Formula formula
    cdef IValue *saved                 # by parameter of the formula; NULL: none, or no more
    cdef int saved_count
    cdef int *versions
    cdef int *starts                   # the first edge of each of the rule's inputs; NULL: one edge each
    cdef bint is_released

    def __dealloc__(self):
        drop_saved(self)
        free(self.starts)

    cdef str title(self):
        return "OperatorNode" if self.rule is None else self.rule.name

    cdef int release_saved(self) except -1:
        if self.saved != NULL and saves(self.formula):
            self.is_released = True
            drop_saved(self)
        return 0

    cdef list apply(self, list gradients):
        cdef IValue values[MOST_PARAMETERS]
        cdef IValue result
        cdef Formula f = self.formula
        cdef int i, filled = 0
        if self.is_released:
            raise_released()
        result.tag = TAG_NONE
        try:
            for i in range(f.count):
                values[i].tag = TAG_NONE
                filled = i + 1
                unpack(self, i, gradients, &values[i])
            f.function.run_values(values, &result)
            return distributed(self, &result)
        finally:
            for i in range(filled):
                release(&values[i])
            release(&result)

    def __getattr__(self, str name):
        """What was saved, by the names of the formula's parameters: `_saved_self`."""
        if self.formula is None or not name.startswith("_saved_") and not name.startswith("_raw_saved_"):
            raise AttributeError(f"'{self.title()}' object has no attribute '{name}'")
        cdef IValue value
        wanted = name.partition("saved_")[2]
        for i, argument in enumerate(self.formula.function.arguments):
            if argument[0] == wanted and self.formula.sources[i].origin not in (GRADIENT, GRADIENTS):
                if self.is_released:
                    raise_released()
                value.tag = TAG_NONE
                unpack(self, i, [], &value)
                try:
                    return box(&value)
                finally:
                    release(&value)
        raise AttributeError(f"'{self.title()}' object has no attribute '{name}'")


@cython.trashcan(True)
cdef class MissingNode(Node):
    """The way back through an operator that has none."""

    cdef str operator

    cdef str title(self):
        return "NotImplemented"

    cdef list apply(self, list gradients):
        raise NotImplementedError(f"derivative for {self.operator} is not implemented")


cdef int raise_released() except -1:
    raise RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
        "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
        "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
        "after calling backward."
    )


cdef bint saves(Formula f) noexcept:
    """Whether a formula reads tensors that were saved."""
    cdef int i
    for i in range(f.count):
        if f.sources[i].origin in (ARGUMENT, RESULT, RESULTS):
            return True
    return False


cdef void drop_saved(OperatorNode node) noexcept:
    cdef IValue *saved = node.saved
    cdef int i
    node.saved = NULL
    if saved != NULL:
        for i in range(node.saved_count):
            release(&saved[i])
    free(saved)
    free(node.versions)
    node.versions = NULL


cdef int unpack(OperatorNode node, int i, list gradients, IValue *out) except -1:
    """The value of a parameter, with a reference of its own."""
    cdef Source *source = &node.formula.sources[i]
    cdef Tensor t, made
    cdef List items
    cdef IValue item
    cdef int k
    if source.origin == GRADIENT:
        put_gradient(node, source.at, gradients[source.at], out)
        return 0
    if source.origin == GRADIENTS:
        items = list_new(list_spec(TENSOR_SPEC), len(gradients))
        for k in range(len(gradients)):
            item.tag = TAG_NONE
            put_gradient(node, k, gradients[k], &item)
            list_store(<PyObject *>items, k, &item)
            items.size = k + 1
        set_object(out, items)
        return 0
    if node.versions[i] != UNCHECKED:
        t = <Tensor>node.saved[i].v.o
        if version_of(t) != node.versions[i]:
            raise_modified(node, t, node.versions[i])
        if source.origin == RESULT and not context_flags() & GRAD_DISABLED:
            made = detached_from(t)
            set_history(made, node, source.at)
            set_object(out, made)
            return 0
    copy_value(out, &node.saved[i])
    return 0


cdef int put_gradient(OperatorNode node, int i, object gradient, IValue *out) except -1:
    if gradient is not None:
        set_object(out, gradient)
    elif node.rule.absent:
        set_none(out)
    else:
        set_object(out, zeros_like(&node.results[i]))
    return 0


cdef object zeros_like(Expected *like):
    """The gradient of a result that nobody used."""
    shape = [like.dims[k] for k in range(like.ndim)]
    backend = backend_registry().at(like.backend)
    place = devices.device(backend.name, like.device_index if backend.numbered else None)
    return operator_function("zeros")(shape, dtype=dtypes.BY_CODE[like.scalar_type], device=place)


cdef int raise_modified(OperatorNode node, Tensor t, int expected) except -1:
    whose = ""
    if t.history is not None and t.history.node is not None:
        whose = f", which is output {t.history.output} of {(<Node>t.history.node).title()},"
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{t.type()} {list(t.shape)}]{whose} is at version {version_of(t)}; expected version {expected} instead. Hint: "
        "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True)."
    )


cdef list distributed(OperatorNode node, IValue *result):
    """What the formula gave, by edges."""
    cdef list found = [None] * node.edge_count
    cdef Formula f = node.formula
    cdef Tuple several
    if len(f.gives) == 1:
        place(node, found, 0, result)
        return found
    several = <Tuple>result.v.o
    for i in range(len(f.gives)):
        place(node, found, i, &several.items[i])
    return found


cdef int place(OperatorNode node, list found, int i, IValue *value) except -1:
    cdef Py_ssize_t k
    cdef IValue item
    cdef int input = node.rule.inputs.index(node.formula.gives[i])
    cdef int edge = input if node.starts == NULL else node.starts[input]
    if value.tag != TAG_OBJECT or value.v.o == NULL:
        return 0
    if type(<object>value.v.o) is not List:
        if node.edges[edge].node != NULL:
            found[edge] = <object>value.v.o
        return 0
    for k in range(min((<List>value.v.o).size, node.edge_count - edge)):
        item = list_item(value.v.o, k)
        if item.tag == TAG_OBJECT and node.edges[edge + k].node != NULL:
            found[edge + k] = <object>item.v.o
    return 0


# ---------------------------------------------------------------- what the collector sees

cdef extern from "Python.h":
    ctypedef int (*Visit "visitproc")(PyObject *x, void *arg) noexcept
    ctypedef int (*Traverse "traverseproc")(PyObject *x, Visit visit, void *arg) noexcept
    ctypedef int (*Clear "inquiry")(PyObject *x) noexcept
    ctypedef struct TypeSlots "PyTypeObject":
        Traverse tp_traverse
        Clear tp_clear
    void PyType_Modified(TypeSlots *t) noexcept

cdef Traverse base_traverse = (<TypeSlots *>OperatorNode).tp_traverse
cdef Clear base_clear = (<TypeSlots *>OperatorNode).tp_clear


cdef int traverse(PyObject *x, Visit visit, void *arg) noexcept:
    cdef IValue *saved = (<OperatorNode>x).saved
    cdef int i, status = base_traverse(x, visit, arg)
    if saved != NULL:
        for i in range((<OperatorNode>x).saved_count):
            if status == 0 and saved[i].tag == TAG_OBJECT and saved[i].v.o != NULL:
                status = visit(saved[i].v.o, arg)
    return status


cdef int clear(PyObject *x) noexcept:
    drop_saved(<OperatorNode>x)
    return base_clear(x)


(<TypeSlots *>OperatorNode).tp_traverse = traverse
(<TypeSlots *>OperatorNode).tp_clear = clear
PyType_Modified(<TypeSlots *>OperatorNode)


# ---------------------------------------------------------------- edges

cdef Node edge_of(Tensor t, int *output):
    if t.base is not None and is_rebased(t.base):
        refresh(t)
    return node_of_whole(t, output)


cdef int refresh(Tensor view) except -1:
    """Give a view whose base was written since its node was made another one: what it is of the base now."""
    cdef History history = history_of(view)
    cdef Tensor base = view.base
    cdef int now = version_of(view)
    if history.version == now and history.node is not None or not base.wants_grad:
        return 0
    node = view_node(view, base)
    history.node, history.output, history.version = node, 0, now
    view.wants_grad = True
    return 0


cdef object node_behind_view(Tensor view):
    refresh(view)
    return None if view.history is None else view.history.node


set_node_of_view(node_behind_view)


# ---------------------------------------------------------------- recording

cdef Rule rule_for(Operator op):
    if op.rule is None:
        op.rule = rule_of(op.record)
    return <Rule>op.rule


cdef inline bint is_tensor(IValue *x) noexcept:
    return x.tag == TAG_OBJECT and x.v.o != NULL and isinstance(<object>x.v.o, Tensor)


cdef inline bint is_list(IValue *x) noexcept:
    return x.tag == TAG_OBJECT and x.v.o != NULL and type(<object>x.v.o) is List


cdef bint is_wanted(IValue *x) noexcept:
    """Whether an argument is a tensor that wants a gradient, or a list with one."""
    cdef IValue item
    cdef Py_ssize_t k
    if is_tensor(x):
        return wants(<Tensor>x.v.o)
    if is_list(x):
        for k in range((<List>x.v.o).size):
            item = list_item(x.v.o, k)
            if is_tensor(&item) and wants(<Tensor>item.v.o):
                return True
    return False


cdef uint64_t wanted_inputs(Rule rule, IValue *r, const int32_t *at) except? 0:
    cdef uint64_t bits = 0
    cdef int i
    for i in range(len(rule.inputs)):
        if is_wanted(&r[at[<int>rule.inputs[i]]]):
            bits |= <uint64_t>1 << i
    return bits


cdef int invoke_with_tape(Operator op, IValue *r, const int32_t *at, PyObject *code, const void *instruction) except -1:
    cdef Rule rule = rule_for(op)
    cdef uint64_t wanted
    cdef Node node
    cdef bint before
    if rule.how == PLAIN or rule.how == INSIDE:
        return invoke_seen(op, r, at, code, instruction)
    if rule.how == LEFT:
        return leave(op, r, at)
    if rule.how == BY_PARTS:
        return run_parts(op, rule, r, at)
    if rule.how == REFUSED:
        raise RuntimeError(rule.text)
    if rule.written >= 0 and is_tensor(&r[at[rule.written]]):
        check_write_to(<Tensor>r[at[rule.written]].v.o)
    wanted = wanted_inputs(rule, r, at)
    if rule.how == BY_FORMULA and wanted == 0:
        return invoke_seen(op, r, at, code, instruction)
    node = recorded(op, rule, wanted, r, at) if rule.how == BY_FORMULA else missing(op)
    if not op.whole:
        invoke_seen(op, r, at, code, instruction)
    else:                              # it may call operators
        before = set_flag(GRAD_DISABLED, True)
        try:
            invoke_seen(op, r, at, code, instruction)
        finally:
            set_flag(GRAD_DISABLED, before)
    settle(op, rule, node, r, at)
    return 0


cdef int leave(Operator op, IValue *r, const int32_t *at) except -1:
    """A group does not run as one: its first result says so, the others are any tensors."""
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


cdef int run_parts(Operator op, Rule rule, IValue *r, const int32_t *at) except -1:
    cdef IValue values[MOST_PARAMETERS]
    cdef IValue result
    cdef Tuple several
    cdef int i
    if op.nargs > MOST_PARAMETERS:
        raise InternalError(f"{op.name} has {op.nargs} arguments")
    for i in range(op.nargs):
        values[i] = r[at[i]]
    result.tag = TAG_NONE
    try:
        rule.parts.run_values(values, &result)
    except Exception:
        invoke_seen(op, r, at, NULL, NULL)  # what it says of what it refuses
        raise
    if op.nrets == 1:
        move_value(&r[at[op.nargs]], &result)
        return 0
    several = <Tuple>result.v.o
    for i in range(op.nrets):
        copy_value(&r[at[op.nargs + i]], &several.items[i])
    release(&result)
    return 0


cdef MissingNode missing(Operator op):
    cdef MissingNode node = MissingNode.__new__(MissingNode)
    node.operator = op.name
    make_room(node, 0, 0)
    node.sequence = next_sequence()
    return node


cdef OperatorNode recorded(Operator op, Rule rule, uint64_t wanted, IValue *r, const int32_t *at):
    """A node with its edges, and what it saves of the arguments."""
    cdef OperatorNode node = OperatorNode.__new__(OperatorNode)
    cdef Formula f = rule.formula(wanted)
    cdef IValue *x
    cdef int i, edges = 0
    cdef int count = len(rule.inputs)
    node.rule, node.formula = rule, f
    for i in range(count):
        x = &r[at[<int>rule.inputs[i]]]
        if is_list(x) and node.starts == NULL:
            node.starts = <int *>calloc(count, sizeof(int))
            if node.starts == NULL:
                raise MemoryError()
    for i in range(count):
        x = &r[at[<int>rule.inputs[i]]]
        if node.starts != NULL:
            node.starts[i] = edges
        edges += <int>(<List>x.v.o).size if is_list(x) else 1
    make_room(node, edges, 0)
    edges = 0
    for i in range(count):
        edges += connect_input(node, edges, &r[at[<int>rule.inputs[i]]])
    node.sequence = next_sequence()
    node.saved = <IValue *>calloc(max(f.count, 1), sizeof(IValue))
    node.versions = <int *>calloc(max(f.count, 1), sizeof(int))
    if node.saved == NULL or node.versions == NULL:
        raise MemoryError()
    node.saved_count = f.count
    for i in range(f.count):
        node.versions[i] = UNCHECKED
        save_argument(node, i, rule, op, r, at)
    return node


cdef int connect_input(Node node, int edge, IValue *x) except -1:
    """Edges for an argument; how many."""
    cdef Py_ssize_t k
    cdef IValue item
    cdef int output = 0
    if is_list(x):
        for k in range((<List>x.v.o).size):
            item = list_item(x.v.o, k)
            if is_tensor(&item):
                to = edge_of(<Tensor>item.v.o, &output)
                connect(node, edge + <int>k, to, output)
        return <int>(<List>x.v.o).size
    if is_tensor(x):
        to = edge_of(<Tensor>x.v.o, &output)
        connect(node, edge, to, output)
    return 1


cdef int save_argument(OperatorNode node, int i, Rule rule, Operator op, IValue *r, const int32_t *at) except -1:
    cdef Source *source = &node.formula.sources[i]
    cdef IValue *x
    cdef Tensor t
    if source.origin == WANTED:
        unbox(list(node.formula.wanted), list_spec(BOOL_SPEC), &node.saved[i])
        return 0
    if source.origin < ARGUMENT or source.origin in (RESULT, RESULTS):
        return 0
    if source.at >= op.nargs:
        return 0
    x = &r[at[source.at]]
    if source.origin >= SIZE:
        return save_fact(source.origin, x, &node.saved[i])
    if source.as_tensor and not is_tensor(x) and x.tag != TAG_NONE:
        set_object(&node.saved[i], number_tensor(x))
        return 0
    if is_tensor(x) and source.at == rule.written:
        t = cloned(<Tensor>x.v.o)
        set_object(&node.saved[i], t)
        node.versions[i] = version_of(t)
        return 0
    copy_value(&node.saved[i], x)
    if is_tensor(x):
        node.versions[i] = version_of(<Tensor>x.v.o)
    return 0


cdef Tensor cloned(Tensor t):
    """A copy of what is about to be written; its history is that of what it was."""
    return operator_function("clone")(t)


cdef Tensor number_tensor(IValue *x):
    if x.tag == TAG_BOOL:
        return wrap(np.asarray(bool(x.v.i)))
    if x.tag == TAG_INT:
        return wrap(np.asarray(<int64_t>x.v.i))
    return wrap(np.asarray(x.v.f if x.tag == TAG_FLOAT else <object>x.v.o))


cdef int save_fact(int what, IValue *x, IValue *out) except -1:
    """What a formula wants to know of a tensor without reading its elements."""
    cdef Tensor t
    if not is_tensor(x):                       # a number where the schema says Tensor
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
    else:
        set_int(out, t.scalar_type)
    return 0


# ---------------------------------------------------------------- results

cdef int settle(Operator op, Rule rule, Node node, IValue *r, const int32_t *at) except -1:
    """The results are those of the node; what its formula reads of them is saved."""
    cdef IValue *x
    cdef IValue item
    cdef Py_ssize_t k, n
    cdef int i, first = 0
    if rule.lists:
        x = &r[at[op.nargs]]
        n = (<List>x.v.o).size if is_list(x) else 0
        make_results(node, n)
        for k in range(n):
            item = list_item(x.v.o, k)
            if is_tensor(&item):
                adopt(rule, node, <Tensor>item.v.o, k)
    else:
        n = op.nrets
        make_results(node, max(n, 1))
        if op.nrets == 0 and rule.written >= 0:
            adopt(rule, node, <Tensor>r[at[rule.written]].v.o, 0)
        for i in rule.results:
            x = &r[at[op.nargs + i]]
            if is_tensor(x):
                adopt(rule, node, <Tensor>x.v.o, i)
    if type(node) is OperatorNode:
        save_results(<OperatorNode>node, op, r, at)
    return 0


cdef int make_results(Node node, Py_ssize_t n) except -1:
    node.results = <Expected *>calloc(n, sizeof(Expected))
    if node.results == NULL:
        raise MemoryError()
    node.result_count = n
    return 0


cdef int adopt(Rule rule, Node node, Tensor t, Py_ssize_t output) except -1:
    """A result of the operator: a tensor that it made, or wrote to."""
    if not is_differentiable(t):
        return 0
    expect(node, output, t)
    if rule.written >= 0:
        return rebase_history(t, node, output, edge_of_input(rule, node))
    if t.wants_grad:                   # an argument, given back as it is
        return 0
    set_history(t, node, output)
    if t.base is not None:
        t.history.version = version_of(t)
        t.history.creation = ONE_OF_SEVERAL if rule.lists else DEFAULT
    return 0


cdef int edge_of_input(Rule rule, Node node) except? -2:
    """The edge of the argument that is written, or -1."""
    if type(node) is not OperatorNode or rule.written not in rule.inputs:
        return -1
    i = rule.inputs.index(rule.written)
    return (<OperatorNode>node).starts[<int>i] if (<OperatorNode>node).starts != NULL else i


cdef inline bint is_differentiable(Tensor t) noexcept:
    """Whether tensors of its dtype have gradients: floating point, complex."""
    return 5 <= t.scalar_type <= 10 or t.scalar_type == 15


cdef int save_results(OperatorNode node, Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *x
    cdef Tensor t
    cdef int i
    for i in range(node.formula.count):
        if node.formula.sources[i].origin >= SIZE:
            if node.formula.sources[i].at >= op.nargs:
                save_fact(node.formula.sources[i].origin, &r[at[node.formula.sources[i].at]], &node.saved[i])
        elif node.formula.sources[i].origin == RESULT:
            x = &r[at[op.nargs + node.formula.sources[i].at]] if op.nrets else &r[at[node.rule.written]]
            if is_tensor(x):
                t = detached_from(<Tensor>x.v.o)
                set_object(&node.saved[i], t)
                node.versions[i] = version_of(t)
            else:
                copy_value(&node.saved[i], x)
        elif node.formula.sources[i].origin == RESULTS:
            copy_value(&node.saved[i], &r[at[op.nargs]])
    return 0


cdef int set_history(Tensor t, Node node, int output) except -1:
    cdef History history = history_of(t)
    history.node, history.output = node, output
    t.wants_grad = True
    return 0


# ---------------------------------------------------------------- writes

cdef int check_write_to(Tensor t) except -1:
    cdef Tensor base = t.base
    if wants(t) and (t.history is None or t.history.node is None) and base is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if base is None:
        return 0
    if base.wants_grad and (base.history is None or base.history.node is None):
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if t.history is not None and t.history.creation == ONE_OF_SEVERAL and t.wants_grad:
        raise RuntimeError(
            f"Output {t.history.output} of {'?' if t.history.node is None else (<Node>t.history.node).title()} is a view and is "
            "being modified inplace. This view is the output of a function that returns multiple views. Such functions do not "
            "allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
    if base.wants_grad and t.history is None and not is_rebased(base):
        raise RuntimeError(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case "
            "is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace "
            "either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want "
            "the inplace to be tracked)."
        )
    return 0


cdef int rebase_history(Tensor t, Node node, int output, int edge) except -1:
    cdef Tensor base = t.base
    cdef Node whole
    if base is None:
        set_history(t, node, output)
        t.history.rebased = True
        return 0
    whole = written_view(t, base, node, output, edge)
    set_history(base, whole, 0)
    base.history.rebased = True
    history_of(t).version = -1         # its node is looked for when somebody asks
    t.wants_grad = True
    return 0


seal(OperatorNode)
seal(MissingNode)
operator.invoke_taped = invoke_with_tape
