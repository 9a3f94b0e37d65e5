"""Differentiable graphs: one backward node for a subgraph of a script, with a forward and a backward graph.

The subgraph is a node `prim::DifferentiableGraph` of the script:

    ran, *results = prim::DifferentiableGraph(x, w)

A plan has the forward and the backward graph for one kind of arguments. If an argument requires grad, the
forward graph of a plan runs. It returns the results, and the values that the backward graph reads. The
backward node (`GraphNode`) saves these values. In other cases, the operators of the subgraph run one by one.

At most MAX_PLANS plans are created, one for each key of the arguments. The key contains the dtypes, sizes,
strides and requires_grad flags of tensors, and the values of numbers.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcmp, memcpy
from numpy cimport npy_intp

from ts._core.autograd cimport rule as rules
from ts._core.autograd.anomaly cimport searching
from ts._core.autograd.history cimport edge_of, set_history
from ts._core.autograd.node cimport Node, connect, expect, make_room, next_sequence
from ts._core.autograd.rule cimport GRAPH, Rule
from ts._core.autograd.saved cimport (
    NO_RESULT, SavingNode, drop_saved, make_room_to_save, raise_released, save_tensor, saved_tensor,
)
from ts._core.autograd.tape cimport leave
from ts._core.dispatch.operator cimport Operator
from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, ndim_of, strides_of
from ts._core.tensor.tensor cimport BACKEND_CPU, DEFAULT, IN_NO_GRAD, Tensor, version_of, needs_grad
from ts._core.thread.context cimport GRAD_DISABLED, set_flag
from ts._core.value.container cimport List, Tuple, list_item
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT, box, copy_value, release, set_bool, set_object
from ts._core.value.no_python_construction cimport seal
from ts._core.vm.function cimport Function, set_last_executed

from ts._core.late_binding import resolve
from ts._core.vm.function import last_executed

cdef enum:
    MAX_ARGUMENTS = 60
    # Maximal number of plans of a graph. For keys beyond this number, the operators of the graph run one by
    # one.
    MAX_PLANS = 16
    MAX_KEY_CHARS = 4096
    MAX_READ = 256                    # maximal number of arguments of a backward function


cdef class BackwardVariant:
    """Backward function of a plan, for one subset of results with gradients."""

    cdef Function function
    # for each argument of `function`: i if it is the gradient of result i, or -1 - j if it is saved value j
    # of the node
    cdef tuple input_sources
    # for each gradient that `function` returns: the number of the edge of the node that receives the gradient
    cdef tuple edge_indices

    def __init__(self, Function function not None, tuple input_sources not None, tuple edge_indices not None):
        if len(input_sources) > MAX_READ:
            raise ValueError(f"a backward graph reads {len(input_sources)} tensors; the maximum is {MAX_READ}")
        self.function, self.input_sources, self.edge_indices = function, input_sources, edge_indices


cdef class DifferentiablePlan:
    """The forward and backward functions of a differentiable graph for one argument key."""

    # function that returns the outputs of the graph, followed by other values that the backward node saves
    cdef Function forward
    cdef int output_count, result_count
    cdef tuple has_gradient                   # for each result of `forward`: True if it requires grad
    cdef tuple bases                   # for each output: if it is a view, number of its base among the results of `forward`, else -1
    # for each value that the backward node saves: i if it is argument i, or -1 - j if it is result j of
    # `forward`
    cdef tuple saves
    cdef tuple inputs_require_grad     # for each argument of the graph: True if it is a tensor that requires grad
    cdef dict backwards                # bit mask of the results that have gradients -> BackwardVariant
    cdef object build  # function: numbers of the results that have gradients -> new BackwardVariant

    def __init__(
        self, Function forward not None, int output_count, tuple has_gradient not None, tuple bases not None, tuple saves not None, build not None
    ):
        if not 0 < output_count <= len(has_gradient) <= 64 or len(bases) != output_count:
            raise ValueError(f"invalid plan: {output_count} outputs, {len(has_gradient)} results (at most 64), {len(bases)} bases")
        self.forward, self.output_count, self.result_count = forward, output_count, len(has_gradient)
        self.has_gradient, self.bases, self.saves, self.build = has_gradient, bases, saves, build
        self.backwards = {}

    cdef BackwardVariant backward(self, uint64_t gradient_mask):
        variant = self.backwards.get(gradient_mask)
        if variant is None:
            variant = self.build(tuple([k for k in range(self.result_count) if gradient_mask >> k & 1]))
            self.backwards[gradient_mask] = variant
        return <BackwardVariant?>variant


cdef class GraphRule(Rule):
    """Differentiation rule of a differentiable graph, with a plan for each argument key."""

    cdef Function subgraph
    cdef object make_subgraph
    cdef readonly object prepare       # function (graph, name) -> Code, which compiles the graphs of plans
    cdef dict plans  # argument key -> plan, or None if no plan supports such arguments
    cdef tuple last  # (argument key, plan) of the last call: one tuple, so that other threads never see the key of another plan

    def __init__(self, make_subgraph not None, prepare not None):
        Rule.__init__(self, GRAPH, "DifferentiableGraphBackward")
        self.make_subgraph, self.prepare, self.plans = make_subgraph, prepare, {}

    @property
    def function(self):
        """Return the function of the graph, created on first access."""
        if self.subgraph is None:
            self.subgraph = self.make_subgraph()
        return self.subgraph

    @property
    def plan_count(self):
        """Return the number of argument keys in `plans`, at most MAX_PLANS."""
        return len(self.plans)

    @property
    def last_required_grad(self):
        """Return the requires_grad flags of the last call's arguments as bools, or None if no plan ran."""
        cdef tuple last = self.last
        return None if last is None or last[1] is None else (<DifferentiablePlan>last[1]).inputs_require_grad

    cdef DifferentiablePlan plan(self, Operator op, IValue *r, const int32_t *at):
        cdef char key[MAX_KEY_CHARS]
        cdef int n = write_key(op, r, at, key)
        cdef tuple last = self.last
        if n < 0:
            return None
        if last is not None and len(<bytes>last[0]) == n and memcmp(<char *><bytes>last[0], key, n) == 0:
            return <DifferentiablePlan>last[1]
        cache_key = PyBytes_FromStringAndSize(key, n)
        if cache_key in self.plans:
            result = self.plans[cache_key]
        elif len(self.plans) >= MAX_PLANS:
            return None
        else:
            args = [box(&r[at[i]]) for i in range(op.nargs)]
            result = make_plan(self, args, [requires_grad_value(&r[at[i]]) for i in range(op.nargs)])
            self.plans[cache_key] = result
        self.last = cache_key, result
        return <DifferentiablePlan>result


cdef object make_plan(GraphRule rule, list args, list requires_grad):
    """Create a plan of the rule's graph for the given arguments and their `requires_grad` flags.

    Return None if no plan supports such arguments.
    """
    # Making the plan calls the graph's function. This call must not be reported as the last executed
    # function.
    executed = last_executed()
    cdef DifferentiablePlan plan = resolve("differentiable_plan")(rule, args, requires_grad)
    set_last_executed(executed)
    if plan is not None:
        plan.inputs_require_grad = tuple(requires_grad)
    return plan


# ---------------------------------------------------------------- argument keys

cdef inline bint is_tensor(IValue *x) noexcept:
    return x.tag == TAG_OBJECT and x.v.o != NULL and isinstance(<object>x.v.o, Tensor)


cdef inline bint requires_grad_value(IValue *x) noexcept:
    return is_tensor(x) and needs_grad(<Tensor>x.v.o)


cdef int write_key(Operator op, IValue *r, const int32_t *at, char *key) except -2:
    """Write the key of the arguments to `key` and return its length.

    Return -1 if the key is too long or an argument is unsupported.
    """
    cdef IValue *x
    cdef IValue item
    cdef List items
    cdef int i, n = 0
    cdef Py_ssize_t k
    for i in range(op.nargs):
        x = &r[at[i]]
        if n > MAX_KEY_CHARS - 32:
            return -1
        if is_tensor(x):
            n = write_tensor(<Tensor>x.v.o, key, n)
            if n < 0:
                return -1
        elif x.tag != TAG_OBJECT:
            n = write_number(x, key, n)
        elif x.v.o != NULL and type(<object>x.v.o) is List:
            items = <List>x.v.o
            if n + 16 * items.size > MAX_KEY_CHARS - 32:
                return -1
            key[n] = b"["
            n += 1
            for k in range(items.size):
                item = list_item(x.v.o, k)
                if item.tag == TAG_OBJECT:
                    return -1
                n = write_number(&item, key, n)
            key[n] = b"]"
            n += 1
        else:
            return -1
    return n


cdef int write_number(IValue *x, char *key, int n) noexcept:
    key[n] = <char>x.tag
    if x.tag != TAG_NONE:
        memcpy(&key[n + 1], &x.v.i, 8)
        return n + 9
    return n + 1


cdef int write_tensor(Tensor t, char *key, int n) except -2:
    cdef PyArrayObject *a = <PyArrayObject *>t.array
    cdef int ndim, k
    cdef npy_intp step
    if t.backend == BACKEND_CPU:
        ndim = ndim_of(a)
    else:
        ndim = t.array.ndim
    if n + 16 + 16 * ndim > MAX_KEY_CHARS:
        return -1
    key[n] = b"T"
    key[n + 1], key[n + 2], key[n + 3] = t.scalar_type, t.backend, t.device_index
    key[n + 4], key[n + 5] = needs_grad(t), ndim
    n += 6
    if t.backend == BACKEND_CPU:
        memcpy(&key[n], dims_of(a), 8 * ndim)
        memcpy(&key[n + 8 * ndim], strides_of(a), 8 * ndim)
        return n + 16 * ndim
    for k in range(ndim):
        step = t.array.shape[k]
        memcpy(&key[n + 8 * k], &step, 8)
        step = t.array.strides[k]
        memcpy(&key[n + 8 * (ndim + k)], &step, 8)
    return n + 16 * ndim


# ---------------------------------------------------------------- execution of the forward function

cdef int invoke_graph(Operator op, Rule rule, IValue *r, const int32_t *at) except -1:
    cdef IValue args[MAX_ARGUMENTS]
    cdef IValue result
    cdef IValue *results
    cdef DifferentiablePlan plan
    cdef GraphNode node
    cdef bint before
    cdef int i
    plan = None
    # Anomaly detection reports the source lines of each operator, so the operators must run one by one.
    if op.nargs <= MAX_ARGUMENTS and not searching:
        plan = (<GraphRule>rule).plan(op, r, at)
    if plan is None:
        return leave(op, r, at)
    for i in range(op.nargs):
        args[i] = r[at[i]]
    result.tag = TAG_NONE
    before = set_flag(GRAD_DISABLED, True)
    try:
        plan.forward.run_values(args, &result)
    finally:
        set_flag(GRAD_DISABLED, before)
    try:
        results = &result if plan.result_count == 1 else (<Tuple>result.v.o).items
        node = record_graph_node(plan, op, args, results)
        for i in range(plan.output_count):
            clear_origin(op, args, &results[i])
            if plan.has_gradient[i]:
                adopt(plan, node, <Tensor>results[i].v.o, i)
        set_bool(&r[at[op.nargs]], True)
        for i in range(plan.output_count):
            copy_value(&r[at[op.nargs + 1 + i]], &results[i])
    finally:
        release(&result)
    return 0


cdef GraphNode record_graph_node(DifferentiablePlan plan, Operator op, IValue *args, IValue *results):
    """Create the backward node of a graph that has run, with its edges and saved values."""
    cdef GraphNode node = GraphNode.__new__(GraphNode)
    cdef int i, where, output = 0, edges = 0
    node.plan = plan
    for i in range(op.nargs):
        edges += requires_grad_value(&args[i])
    make_room(node, edges, plan.result_count)
    edges = 0
    for i in range(op.nargs):
        if requires_grad_value(&args[i]):
            to = edge_of(<Tensor>args[i].v.o, &output)
            connect(node, edges, to, output)
            edges += 1
    node.sequence = next_sequence()
    make_room_to_save(node, len(plan.saves))
    for i, where in enumerate(plan.saves):
        if where >= 0:
            save_tensor(&node.saved[i], <Tensor>args[where].v.o, NO_RESULT)
        else:
            where = -1 - where
            save_tensor(&node.saved[i], <Tensor>results[where].v.o, where if plan.has_gradient[where] else NO_RESULT)
    for i in range(plan.result_count):
        if plan.has_gradient[i]:
            expect(node, i, <Tensor>results[i].v.o)
    return node


cdef int clear_origin(Operator op, const IValue *args, IValue *result) except -1:
    """Mark a view that the graph has created as a view of an operator with gradients.

    The graph runs with gradients disabled, but the program does not. Views among the arguments are unchanged.
    """
    cdef int i
    if result.tag != TAG_OBJECT or not isinstance(<object>result.v.o, Tensor) or (<Tensor>result.v.o).creation != IN_NO_GRAD:
        return 0
    for i in range(op.nargs):
        if args[i].tag == TAG_OBJECT and args[i].v.o == result.v.o:
            return 0
    (<Tensor>result.v.o).creation = DEFAULT
    return 0


cdef int adopt(DifferentiablePlan plan, Node node, Tensor t, int output) except -1:
    # A result that already requires grad is an argument of the graph. Its autograd history must not be
    # changed.
    if t.requires_grad_flag:
        return 0
    set_history(t, node, output)
    if t.base is not None:
        if plan.bases[output] >= 0 and not t.base.requires_grad_flag:
            set_history(t.base, node, plan.bases[output])
        t.version = version_of(t)
    return 0


# ---------------------------------------------------------------- backward node

@cython.final
@cython.trashcan(True)
cdef class GraphNode(SavingNode):
    """Backward node of a differentiable graph."""

    cdef DifferentiablePlan plan

    cdef str title(self):
        return "DifferentiableGraphBackward"

    cdef int release_saved(self) except -1:
        self.is_released = True
        drop_saved(self)
        return 0

    cdef list apply(self, list gradients):
        cdef IValue values[MAX_READ]
        cdef IValue result
        cdef BackwardVariant variant
        cdef uint64_t gradient_mask = 0
        cdef int i, where, filled = 0
        cdef list results = [None] * self.edge_count
        if self.is_released:
            raise_released()
        for i in range(self.result_count):
            if gradients[i] is not None:
                gradient_mask |= <uint64_t>1 << i
        variant = self.plan.backward(gradient_mask)
        if len(variant.edge_indices) == 0:
            return results
        result.tag = TAG_NONE
        try:
            for i, where in enumerate(variant.input_sources):
                values[i].tag = TAG_NONE
                filled = i + 1
                set_object(&values[i], gradients[where] if where >= 0 else saved_tensor(&self.saved[-1 - where], self))
            set_last_executed(variant.function)
            variant.function.run_values(values, &result)
            for i, edge in enumerate(variant.edge_indices):
                results[edge] = box(&result if len(variant.edge_indices) == 1 else &(<Tuple>result.v.o).items[i])
            return results
        finally:
            for i in range(filled):
                release(&values[i])
            release(&result)


def bind(Operator op not None, GraphRule rule not None):
    """Set `rule` as the differentiation rule of `op`. Calls of `op` use the rule if an argument requires grad."""
    op.rule = rule


def rule_of_graph(Operator op not None):
    """Return the differentiation rule that `bind` has set for `op`."""
    return <GraphRule?>op.rule


seal(GraphNode)
rules.invoke_graph = invoke_graph
