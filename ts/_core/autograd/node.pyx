"""Backward nodes: edges, expected gradient metadata, garbage collection."""

from collections import OrderedDict, namedtuple

cimport cython
from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free, malloc
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject, dims_of, ndim_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, backend_registry, hides_elements
from ts._core.value.tagged cimport Py_XDECREF, Py_XINCREF

from ts import devices, dtypes

cdef extern from "Python.h":
    ctypedef int (*Visit "visitproc")(PyObject *x, void *arg) noexcept
    ctypedef int (*Traverse "traverseproc")(PyObject *x, Visit visit, void *arg) noexcept
    ctypedef int (*Clear "inquiry")(PyObject *x) noexcept
    ctypedef struct TypeSlots "PyTypeObject":
        Traverse tp_traverse
        Clear tp_clear
    void PyType_Modified(TypeSlots *t) noexcept

cdef int64_t last_sequence = 0


cdef int64_t next_sequence() noexcept:
    global last_sequence
    last_sequence += 1
    return last_sequence


# `trashcan` limits the recursion depth when a long chain of nodes is deallocated. Subclasses do not inherit
# the decorator.
@cython.trashcan(True)
cdef class Node:
    """Node of the autograd graph, the class of `Tensor.grad_fn`."""

    def __dealloc__(self):
        drop_edges(self)
        free_results(self)

    cdef list apply(self, list gradients):
        raise NotImplementedError(f"{self.title()} does not implement a backward pass")

    cdef int release_saved(self) except -1:
        return 0

    cdef str title(self):
        return type(self).__name__

    cdef str forward_title(self):
        """Return the name of the forward operator, such as "Mul" for MulBackward0 and "Elu1" for
        EluBackward1.
        """
        name, suffix, digits = self.title().rpartition("Backward")
        return name + digits.removesuffix("0") if suffix and (not digits or digits.isdigit()) else self.title()

    def name(self):
        """Return the name of the node, such as "MulBackward0"."""
        return self.title()

    def __repr__(self):
        return f"<{self.title()} object at {<size_t><void *>self:#x}>"

    @property
    def next_functions(self):
        """Return (node, output number) for each argument, or (None, 0) for an argument without gradient."""
        functions = []
        for i in range(self.edge_count):
            node = self.edges[i].node
            functions.append((None, 0) if node == NULL else (<object>node, self.edges[i].output))
        return tuple(functions)

    @property
    def _input_metadata(self):
        """Return the expected `shape`, `dtype` and `device` of each result's gradient."""
        return [describe_result(&self.results[i]) for i in range(self.result_count)]

    @property
    def metadata(self):
        """Return the dictionary for user data, created at the first access."""
        if self.notes is None:
            self.notes = {}
        return self.notes

    def _sequence_nr(self):
        return self.sequence

    def __call__(self, *gradients):
        """Return the gradients of the arguments, computed from the gradients of the results."""
        if len(gradients) != self.result_count or self.results == NULL:
            raise RuntimeError(f"{self.title()} expects {self.result_count} gradients, got {len(gradients)}")
        for gradient in gradients:
            if gradient is not None and not isinstance(gradient, Tensor):
                raise TypeError(f"expected a Tensor or None as gradient, got {type(gradient).__name__}")
        results = self.apply(list(gradients))
        return results[0] if len(results) == 1 else tuple(results)

    def register_hook(self, hook):
        """Register a hook that is called after the node has run: hook(argument gradients, result gradients).

        A tuple that the hook returns replaces the gradients of the arguments.
        """
        return handle(hooks_of(self).after, hook)

    def register_prehook(self, hook):
        """Register a hook that is called before the node runs: hook(result gradients).

        A tuple that the hook returns replaces the gradients of the results.
        """
        return handle(hooks_of(self).before, hook)


InputMetadata = namedtuple("InputMetadata", "shape dtype device")


cdef object describe_result(Expected *like):
    if like.dims == NULL:
        return None
    backend = backend_registry().at(like.backend)
    device = devices.device(backend.name, like.device_index if backend.numbered else None)
    return InputMetadata(tuple([like.dims[k] for k in range(like.ndim)]), dtypes.BY_CODE[like.scalar_type], device)


cdef object handle(object hooks, object hook):
    from ts._core.tensor.hooks import add_hook

    return add_hook(hooks, hook)


cdef class Hooks:
    def __cinit__(self):
        self.tensors, self.retained = {}, {}
        self.before, self.after, self.accumulated = OrderedDict(), OrderedDict(), OrderedDict()

    def of_output(self, int output):
        """Return the table of tensor hooks for result number `output`, created at the first call."""
        return self.tensors.setdefault(output, OrderedDict())


cdef Hooks hooks_of(Node node):
    if node.hooks is None:
        node.hooks = Hooks()
    return node.hooks


@cython.freelist(64)
cdef class NodeTask:
    pass


# ---------------------------------------------------------------- allocation of edges and results

cdef int make_room(Node node, int edges, int results) except -1:
    if edges <= 2:
        node.edges = &node.few_edges[0]
        node.few_edges[0].node = node.few_edges[1].node = NULL
    else:
        node.edges = <Edge *>calloc(edges, sizeof(Edge))
        if node.edges == NULL:
            raise MemoryError()
    node.edge_count = edges
    return make_results(node, results)


cdef int make_results(Node node, Py_ssize_t n) except -1:
    if node.results != NULL:
        free_results(node)
    if n <= 1:
        node.results = &node.one_result
    else:
        node.results = <Expected *>calloc(n, sizeof(Expected))
        if node.results == NULL:
            raise MemoryError()
    node.result_count = n
    return 0


cdef void connect(Node node, int i, Node to, int output) noexcept:
    cdef PyObject *before = node.edges[i].node
    if to is not None:
        Py_XINCREF(<PyObject *>to)
    node.edges[i].node = NULL if to is None else <PyObject *>to
    node.edges[i].output = output
    Py_XDECREF(before)


cdef int expect(Node node, int i, Tensor result) except -1:
    cdef Expected *like = &node.results[i]
    cdef PyArrayObject *a = <PyArrayObject *>result.array
    cdef Tensor innermost = result
    cdef int k
    # The array of a function transform's tensor is a meta array, also if the elements are on another device.
    while hides_elements(innermost):
        innermost = innermost.history.layer.inner
    like.scalar_type, like.backend, like.device_index = result.scalar_type, innermost.backend, innermost.device_index
    like.ndim = ndim_of(a) if result.backend == BACKEND_CPU else result.array.ndim
    if like.dims != &like.few[0]:
        free(like.dims)
    like.dims = &like.few[0] if like.ndim <= 4 else <npy_intp *>malloc(like.ndim * sizeof(npy_intp))
    if like.dims == NULL:
        raise MemoryError()
    for k in range(like.ndim):
        like.dims[k] = dims_of(a)[k] if result.backend == BACKEND_CPU else result.array.shape[k]
    return 0


cdef void drop_edges(Node node) noexcept:
    cdef Edge *edges = node.edges
    cdef int i, n = node.edge_count
    node.edges, node.edge_count = NULL, 0
    for i in range(n):
        Py_XDECREF(edges[i].node)
    if n > 2:
        free(edges)


cdef void free_results(Node node) noexcept:
    cdef Expected *results = node.results
    cdef int i, n = node.result_count
    node.results, node.result_count = NULL, 0
    for i in range(n):
        if results[i].dims != &results[i].few[0]:
            free(results[i].dims)
        results[i].dims = NULL
    if n > 1:
        free(results)


# ---------------------------------------------------------------- garbage collection

cdef Traverse base_traverse = (<TypeSlots *>Node).tp_traverse
cdef Clear base_clear = (<TypeSlots *>Node).tp_clear


cdef int traverse(PyObject *x, Visit visit, void *arg) noexcept:
    cdef int status = base_traverse(x, visit, arg)
    cdef int i
    for i in range((<Node>x).edge_count):
        if status == 0 and (<Node>x).edges[i].node != NULL:
            status = visit((<Node>x).edges[i].node, arg)
    return status


cdef int clear(PyObject *x) noexcept:
    drop_edges(<Node>x)
    return base_clear(x)


(<TypeSlots *>Node).tp_traverse = traverse
(<TypeSlots *>Node).tp_clear = clear
PyType_Modified(<TypeSlots *>Node)
