"""Tensor: a thin object around one array of a backend.

    Tensor -> array (numpy.ndarray | cupy.ndarray | meta array) -> memory
              scalar_type, backend, device_index: read from the array when it is wrapped

Views share memory because their arrays do: shape, strides and storage are those of the array.  C code creates
tensors by `wrap` (any array) or `wrap_cpu` (an ndarray with known ScalarType).
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from ts._core.thread.context cimport GRAD_DISABLED, INFERENCE, LAYERED, context_flags

cdef enum:
    BACKEND_CPU = 0
    BACKEND_CUDA = 1
    BACKEND_META = 2


cdef enum CreationMeta:
    """Origins of views whose in-place writes are not differentiable."""
    DEFAULT = 0
    ONE_OF_SEVERAL = 1                 # created by an operator with several results
    BY_FUNCTION = 2                    # created in the forward of a custom autograd.Function
    IN_INFERENCE = 3                   # view of a normal tensor, created in inference mode


cdef class AutogradMeta:
    """Autograd metadata of a tensor that requires, or has required, grad."""
    cdef object node                   # the backward node that computed it; None for a leaf
    cdef int output                    # index of the result of `node`
    cdef int version                   # for a view: the memory's version for which `node` is valid
    cdef bint rebased                  # modified in place: its views need new nodes
    cdef CreationMeta creation
    cdef bint retained                 # retain_grad() was called on this non-leaf
    cdef Tensor grad                   # accumulated gradient of a leaf, or of a non-leaf with retain_grad()
    cdef object hooks                  # hook tables of a leaf (`autograd.node.Hooks`)
    cdef PyObject *accumulator         # borrowed AccumulateGrad node of a leaf
    cdef object layer                  # dispatch layer, or None: `ts._core.dispatch_layers`


cdef class Tensor:
    cdef readonly object array
    cdef readonly int scalar_type      # PyTorch's ScalarType
    cdef readonly int backend          # index into `ts.backends`' list; 0 is the CPU
    cdef readonly int device_index     # -1: the device has no index
    cdef bint wants_grad               # requires grad by itself; `needs_grad` also checks the base of a view
    cdef bint of_inference             # created in inference mode: without a version counter
    cdef AutogradMeta history               # None without autograd metadata
    cdef int version                   # version counter of the memory, if `owner` is None
    cdef Tensor owner                  # otherwise a tensor on the same memory that leads to the counter
    cdef Tensor base                   # base of a view; not the tensor it was detached from
    cdef PyObject *attributes          # dictionary of user attributes, or NULL
    cdef object __weakref__


# Version counter of memory without an owning tensor: it has no array and no autograd metadata.
cdef class VersionCounter(Tensor):
    pass


cdef int check_write_of_inference() except -1
# Mark a view created in inference mode: it requires grad by itself and may not be written later.
cdef int leave_unrecorded(Tensor view) except -1

# Return the tensor that has the version counter of the memory of `t`; borrowed.
cdef inline PyObject *counter_of(PyObject *t) noexcept nogil:
    cdef PyObject *owner = <PyObject *>(<Tensor>t).owner
    while owner != <PyObject *>None:
        t, owner = owner, <PyObject *>(<Tensor>owner).owner
    return t

# Return a separate version counter of the memory, without access to any tensor's autograd metadata.
cdef Tensor counter_apart(Tensor t)

# Increment the version counter of the tensor's memory, shared by its views.
cdef inline int wrote(Tensor t) except -1:
    cdef PyObject *counter = counter_of(<PyObject *>t)
    (<Tensor>counter).version = (<Tensor>counter).version + 1
    return check_write_of_inference() if t.of_inference else 0

cdef inline int follow(Tensor view, Tensor x) except -1:
    view.owner = x if x.owner is None else x.owner
    view.base = x if x.base is None else x.base
    view.of_inference = x.of_inference
    if context_flags() & INFERENCE and not x.of_inference and needs_grad(view.base):
        leave_unrecorded(view)

cdef inline bint needs_grad(Tensor t) noexcept:
    """Return whether the tensor, or its base after an in-place write, requires grad."""
    return t.wants_grad or (t.base is not None and t.base.wants_grad and is_rebased(t.base))

cdef inline bint is_rebased(Tensor t) noexcept:
    return t.history is not None and t.history.rebased

# Callback that returns the node of a view after a write to its base; set by autograd.
ctypedef object (*NodeOf)(Tensor view)
cdef int set_node_of_view(NodeOf function) except -1

cdef inline bint is_recorded(Tensor t) noexcept:
    """Return whether operators on the tensor are recorded by autograd or handled by a dispatch layer."""
    return (needs_grad(t) and not context_flags() & GRAD_DISABLED) or is_layered(t)

cdef inline bint is_layered(Tensor t) noexcept:
    """Return whether the tensor has a dispatch layer."""
    return t.history is not None and t.history.layer is not None

# Return whether operators on the tensor call `__torch_dispatch__` of its class.
cdef bint is_dispatched(Tensor t) except -1
# Return whether the elements are in the inner tensor of its layer, not in its own array.
cdef bint hides_elements(Tensor t) except -1
# Return a tensor on the same memory without autograd metadata, with a shared version counter.
cdef Tensor detached_from(Tensor x)
# Return the number of writes to the memory.
cdef inline int version_of(Tensor t) noexcept:
    return (<Tensor>counter_of(<PyObject *>t)).version

# Return the autograd metadata of a tensor, created on first use.
cdef AutogradMeta history_of(Tensor t)

# Register a function called before an array or its address is exposed to code that may write to it uncounted.
ctypedef void (*LetGo)(PyObject *array, bint by_address) noexcept
cdef int watch_memory(LetGo function) except -1

# Wrap `array`, a view of `x`'s memory, in a tensor.
cdef Tensor view_on(Tensor x, object array)
# Return the array that owns the memory of an array, or of a tensor.
cdef object root_of(object array)
cdef object memory_of(Tensor t)
# Wrap an array of any backend (or a NumPy scalar) in a new Tensor, without a copy.
cdef Tensor wrap(object array)
# Wrap an ndarray of known ScalarType in a new Tensor, without a dtype look-up.
cdef Tensor wrap_cpu(object array, int scalar_type)
# Replace the array of `t`, for in-place changes of shape or dtype.
cdef int rebind(Tensor t, object array) except -1
# Convert a NumPy type number to a ScalarType, and a ScalarType to a NumPy type number; -1 if there is none.
cdef int scalar_type_of_number(int type_number) noexcept nogil
cdef int number_of_scalar_type(int scalar_type) noexcept nogil
# Return the backends package registered by `connect`; `connected` imports the module that calls `connect`.
cdef object backend_registry()
cdef int connected() except -1
# Return whether `x[index]` (int64 indices or a mask on the tensor's device), or `x[i, j, ...]`, is a single operator.
cdef bint selects_alone(Tensor x, Tensor index)
cdef bint select_together(Tensor x, tuple indices)
# Return the callable of an operator name ("add") from the registry; raise an error for an unknown name.
cdef object operator_function(str name)
