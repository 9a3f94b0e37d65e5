"""Backward nodes of operators, which run derivative formulas on saved values and gradients of results.

The node of x * w has this formula, and saves one value per parameter of the formula:

    MulBackward0    formula (grad, self, other) -> (grad * other.conj(), grad * self.conj())
                    saved   -, x, w
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdlib cimport free

from ts._core.autograd.node cimport Expected, Node, drop_edges, free_results, make_room
from ts._core.autograd.rule cimport ARGUMENT, Formula, GRADIENT, GRADIENTS, RESULT, RESULTS, Source
from ts._core.autograd.saved cimport (
    LET_GO, Saved, SavingNode, SavedTensorList, UNCHECKED, drop_saved, make_room_to_save, raise_released, saved_at, saved_several, saved_tensor,
)
from ts._core.tensor.python_operators cimport operator_function
from ts._core.tensor.tensor cimport backend_registry
from ts._core.value.container cimport List, Tuple, list_item, list_new, list_store
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT, TENSOR_SPEC, box, copy_value, list_spec, release, set_none, set_object
from ts._core.value.no_python_construction cimport seal
from ts._core.vm.function cimport Function

from ts import devices, dtypes
from ts.errors import ScriptRuntimeError


cdef extern from "node_freelist.h":
    void use_free_list(PyObject *cls, void (*empty)(PyObject *node) noexcept) noexcept
    PyObject *pop_free_node() noexcept


cdef class OperatorNode(SavingNode):
    cdef str title(self):
        return "OperatorNode" if self.rule is None else self.rule.name

    cdef int release_saved(self) except -1:
        cdef int i
        cdef Saved *s
        for i in range(self.saved_count if self.saved != NULL else 0):
            s = &self.saved[i]
            if s.version != UNCHECKED or s.value.tag == TAG_OBJECT and type(<object>s.value.v.o) is SavedTensorList:
                self.is_released = True
                set_none(&s.value)
                s.version = LET_GO
        return 0

    cdef list apply(self, list gradients):
        cdef IValue values[MAX_PARAMETERS]
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
            run_formula(f.function(), values, &result)
            return distribute_gradients(self, &result)
        finally:
            for i in range(filled):
                release(&values[i])
            release(&result)

    def __getattr__(self, str name):
        """Return the saved value of a formula parameter, for example of `self` for the name `_saved_self`.

        For a name such as `_raw_saved_self`, return the `SavedTensor`, on which hooks can be registered.
        """
        cdef IValue value
        cdef int i = self.saved_index(name)
        if i < 0:
            raise AttributeError(f"'{self.title()}' object has no attribute '{name}'")
        if name.startswith("_raw"):
            return saved_at(self, i)
        if self.saved[i].version == LET_GO:
            raise_released()
        value.tag = TAG_NONE
        unpack(self, i, [], &value)
        try:
            saved_value = box(&value)
        finally:
            release(&value)
        return tuple(saved_value) if type(saved_value) is list else saved_value

    def __dir__(self):
        return [*object.__dir__(self), *["_saved_" + name for name in self.saved_names() if name]]

    cdef list saved_names(self):
        """Return one entry per formula parameter: the name of the saved value, or None if the parameter is a
        gradient.
        """
        cdef int i
        if self.formula is None:
            return []
        arguments = self.formula.function().arguments
        return [
            arguments[i][0] if self.formula.sources[i].origin not in (GRADIENT, GRADIENTS) else None
            for i in range(self.formula.count)
        ]

    cdef int saved_index(self, str attribute) except -2:
        if not attribute.startswith(("_saved_", "_raw_saved_")):
            return -1
        names = self.saved_names()
        name = attribute.partition("saved_")[2]
        return names.index(name) if name in names else -1


@cython.trashcan(True)
cdef class MissingNode(Node):
    cdef str title(self):
        return "NotImplemented"

    cdef list apply(self, list gradients):
        raise NotImplementedError(f"derivative for {self.operator} is not implemented")


cdef int run_formula(Function function, IValue *values, IValue *result) except -1:
    try:
        function.run_values(values, result)
        return 0
    except Exception as error:
        failure = bare(error)
    raise failure


cpdef object bare(object error):
    """Return the exception `error` of an operator or formula, without the stack trace of the running scripts.

    If `error` is a RuntimeError, NotImplementedError or MemoryError that was raised while another exception
    was handled, return the other exception.
    """
    if isinstance(error, ScriptRuntimeError):
        error.stack = []
        return error
    if type(error) in (RuntimeError, NotImplementedError, MemoryError) and error.__context__ is not None:
        return error.__context__
    return error


cdef void empty(PyObject *x) noexcept:
    """Reset a released node, so that the free list can reuse it."""
    cdef OperatorNode node = <OperatorNode>x
    drop_saved(node)
    drop_edges(node)
    free_results(node)
    if node.starts != NULL:
        free(node.starts)
        node.starts = NULL
    node.rule, node.formula, node.task, node.hooks, node.notes = None, None, None, None, None
    node.is_released = False


cdef OperatorNode operator_node(Rule rule, Formula formula):
    cdef PyObject *free_node = pop_free_node()
    cdef OperatorNode node
    if free_node != NULL:
        node = <OperatorNode>free_node
        Py_DECREF(node)
    else:
        node = OperatorNode.__new__(OperatorNode)
    node.rule, node.formula = rule, formula
    make_room_to_save(node, formula.count)
    return node


cdef MissingNode missing_node(str operator, int edges):
    cdef MissingNode node = MissingNode.__new__(MissingNode)
    node.operator = operator
    make_room(node, edges, 0)
    return node


cdef int unpack(OperatorNode node, int i, list gradients, IValue *out) except -1:
    """Write the value of formula parameter `i` to `out` as an owned reference."""
    cdef Source *source = &node.formula.sources[i]
    cdef Saved *saved
    cdef SavedTensorList several
    if source.origin == GRADIENT:
        put_gradient(node, source.at, gradients[source.at], out)
        return 0
    if source.origin == GRADIENTS:
        put_gradients(node, gradients, out)
        return 0
    saved = &node.saved[i]
    if saved.version != UNCHECKED:
        set_object(out, saved_tensor(saved, node))
    elif saved.value.tag == TAG_OBJECT and type(<object>saved.value.v.o) is SavedTensorList:
        several = <SavedTensorList>saved.value.v.o  # holds a reference, because an unpack hook may release the saved list
        set_object(out, saved_several(several, node))
    else:
        copy_value(out, &saved.value)
    return 0


cdef int put_gradient(OperatorNode node, int i, object gradient, IValue *out) except -1:
    if gradient is not None:
        set_object(out, gradient)
    elif node.rule.absent:
        set_none(out)
    else:
        set_object(out, zeros_like(&node.results[i]))
    return 0


cdef int put_gradients(OperatorNode node, list gradients, IValue *out) except -1:
    cdef List items = list_new(list_spec(TENSOR_SPEC), len(gradients))
    cdef IValue item
    cdef int k
    for k in range(len(gradients)):
        item.tag = TAG_NONE
        put_gradient(node, k, gradients[k], &item)
        list_store(<PyObject *>items, k, &item)
        items.size = k + 1
    set_object(out, items)
    return 0


cdef object zeros_like(Expected *like):
    shape = [like.dims[k] for k in range(like.ndim)]
    backend = backend_registry().at(like.backend)
    device = devices.device(backend.name, like.device_index if backend.numbered else None)
    return operator_function("zeros")(shape, dtype=dtypes.BY_CODE[like.scalar_type], device=device)


cdef list distribute_gradients(OperatorNode node, IValue *result):
    """Return a list with one gradient per edge of the node, taken from the formula's result."""
    cdef list gradients_of_edges = [None] * node.edge_count
    cdef Formula f = node.formula
    cdef IValue *items = result
    cdef int i
    if f.gradient_count > 1:
        items = (<Tuple>result.v.o).items
    for i in range(f.gradient_count):
        store_gradients(node, gradients_of_edges, f.input_indices[i], &items[i])
    return gradients_of_edges


cdef int store_gradients(OperatorNode node, list gradients, int input, IValue *value) except -1:
    cdef Py_ssize_t k
    cdef IValue item
    cdef int edge = input if node.starts == NULL else node.starts[input]
    if value.tag != TAG_OBJECT or value.v.o == NULL:
        return 0
    if type(<object>value.v.o) is not List:
        if node.edges[edge].node != NULL:
            gradients[edge] = <object>value.v.o
        return 0
    for k in range(min((<List>value.v.o).size, node.edge_count - edge)):
        item = list_item(value.v.o, k)
        if item.tag == TAG_OBJECT and node.edges[edge + k].node != NULL:
            gradients[edge + k] = <object>item.v.o
    return 0


use_free_list(<PyObject *>OperatorNode, empty)
seal(OperatorNode)
seal(MissingNode)
