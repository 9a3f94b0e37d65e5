"""The class Tensor: a thin wrapper of one array of a backend.

The references and fields of a tensor are:

    Tensor -> array (numpy.ndarray | cupy.ndarray | meta array) -> memory
              scalar_type, backend, device_index: read from the array when it is wrapped

Shape, strides and storage of a tensor are those of its array. Views share memory because their arrays share
memory. C code creates tensors by `wrap_array` (any array) or `wrap_cpu` (an ndarray with known ScalarType).
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from ts._core.tensor.ndarray cimport PyArrayObject, ndim_of
from ts._core.thread.context cimport GRAD_DISABLED, INFERENCE, LAYERED, context_flags, current_transform

cdef enum:
    BACKEND_CPU = 0
    BACKEND_CUDA = 1
    BACKEND_META = 2
    BACKEND_SPARSE = 3  # The array is a `ts.backends.sparse.SparseArray` on the CPU, which has no strides.


cdef enum CreationMeta:
    """Origin of a view. Views of another origin than DEFAULT forbid recorded in-place writes, and cannot be used in
    recorded operators after a write to their memory.
    """
    DEFAULT = 0
    ONE_OF_SEVERAL = 1                 # created by an operator that returns several views
    BY_FUNCTION = 2                    # created in the `forward` of a custom autograd.Function
    IN_INFERENCE = 3                   # created in inference mode, of a tensor created outside of it
    IN_NO_GRAD = 4                     # created in `no_grad` mode


cdef class AutogradMeta:
    """Autograd metadata of a tensor that requires grad or has required grad."""
    cdef object node                   # backward node that computed the tensor, or None for a leaf
    cdef int output                    # the tensor's number among the results of `node`
    cdef bint retained                 # True if retain_grad() was called on this tensor, which is not a leaf
    cdef Tensor grad                   # accumulated gradient of a leaf, or of a tensor with `retained`
    cdef object hooks                  # hook tables of a leaf (`autograd.node.Hooks`)
    cdef PyObject *accumulator         # borrowed reference to the AccumulateGrad node of a leaf, or NULL
    cdef object layer                  # dispatch layer (`ts._core.dispatch_layers`), or None


cdef class Tensor:
    cdef readonly object array
    cdef readonly int scalar_type      # PyTorch's ScalarType
    cdef readonly int backend          # number of the backend (`Backend.index`), which is 0 for the CPU
    cdef readonly int device_index     # -1 if the device has no index
    cdef bint requires_grad_flag  # True if the tensor itself requires grad. A view also requires grad by its base (`needs_grad`).
    cdef bint of_inference             # True for inference tensors: created in inference mode, without a version counter
    cdef CreationMeta creation         # origin of a view
    cdef AutogradMeta history               # None if the tensor has no autograd metadata
    # Version counter of the memory if `owner` is None. Otherwise, the tensor is a view, and `version` is the
    # version of the memory for which its backward node is valid. If the memory has another version, the view
    # needs a new node.
    cdef int version
    # number of the `grad`, `vjp` or `jvp` in whose function the tensor was created, or 0. A view has the number of its base.
    cdef int64_t transform
    # None if this tensor has the version counter of its memory. Otherwise, another tensor on the same memory.
    # That tensor either has the counter, or refers to the tensor with the counter by its own `owner`.
    cdef Tensor owner
    cdef Tensor base  # base of a view, or None, also for the result of `detach()`
    cdef PyObject *attributes          # dictionary of user attributes, or NULL
    cdef object __weakref__


# A tensor object that is only the version counter of memory: it has no array and no autograd metadata.
cdef class VersionCounter(Tensor):
    pass


cdef int check_write_of_inference() except -1

# Return the tensor that has the version counter for the memory of `t`, as a borrowed reference.
cdef inline PyObject *counter_of(PyObject *t) noexcept nogil:
    cdef PyObject *owner = <PyObject *>(<Tensor>t).owner
    while owner != <PyObject *>None:
        t, owner = owner, <PyObject *>(<Tensor>owner).owner
    return t

# Move the version counter for the memory of `t` to a VersionCounter object, and return this object. A
# VersionCounter has no autograd metadata, so a reference to it keeps none alive.
cdef Tensor counter_apart(Tensor t)

# Count a write to `t`: increment the version counter of its memory, which `t` shares with its views.
cdef inline int wrote(Tensor t) except -1:
    cdef PyObject *counter = counter_of(<PyObject *>t)
    (<Tensor>counter).version = (<Tensor>counter).version + 1
    return check_write_of_inference() if t.of_inference else 0

cdef inline int follow(Tensor view, Tensor x) except -1:
    view.owner = x if x.owner is None else x.owner
    if not x.of_inference:  # autograd does not track views of inference tensors
        view.base = x if x.base is None else x.base
    view.version = version_of(view)
    view.of_inference = x.of_inference
    view.creation = origin_of_view(x)
    view.transform = x.transform
    return 0

cdef inline CreationMeta origin_of_view(Tensor x) noexcept:
    """Return the origin of a view of `x` that this thread creates. A view of a view has the origin of the latter."""
    cdef unsigned int flags = context_flags()
    if not flags & (INFERENCE | GRAD_DISABLED):
        return x.creation
    if not flags & INFERENCE:
        return IN_NO_GRAD
    return DEFAULT if x.of_inference else IN_INFERENCE

cdef inline bint needs_grad(Tensor t) noexcept:
    """Return whether the tensor requires grad: by itself, or as a view whose base requires grad."""
    return t.requires_grad_flag or (t.base is not None and t.base.requires_grad_flag)

cdef inline bint is_recorded(Tensor t) noexcept:
    """Return whether autograd records operators on the tensor, or whether the tensor has a dispatch layer."""
    return (needs_grad(t) and not context_flags() & GRAD_DISABLED) or is_layered(t)

cdef inline bint is_layered(Tensor t) noexcept:
    """Return whether the tensor has a dispatch layer."""
    return t.history is not None and t.history.layer is not None

cdef inline bint is_dispatched(Tensor t) except -1:
    """Return whether the class of the tensor defines `__torch_dispatch__`, which operators on the tensor then call."""
    return is_layered(t) and t.history.layer.dispatches

cdef inline bint calls_handler(Tensor t) except -1:
    """Return whether operators on `t` in this thread call `__torch_dispatch__`.

    The class of `t` must define `__torch_dispatch__`, and layers must be enabled in this thread.
    """
    return is_layered(t) and context_flags() & LAYERED != 0 and is_dispatched(t)

cdef inline bint hides_elements(Tensor t) except -1:
    """Return whether the tensor's own array has no elements, because they are in the inner tensor of its layer."""
    return t.backend == BACKEND_META and is_layered(t) and t.history.layer.hides_elements

# Return a new tensor on the memory of `x`, without autograd metadata and with a version counter of its own.
cdef Tensor alias_detached(Tensor x)
# Return the version of the memory of `t`: the number of writes to it.
cdef inline int version_of(Tensor t) noexcept:
    return (<Tensor>counter_of(<PyObject *>t)).version

# Return the autograd metadata of a tensor. The first call creates them.
cdef AutogradMeta history_of(Tensor t)

# Register a function that is called before an array is exposed to code whose writes do not increment the
# version counter. The argument `by_address` of the function is True if only the array's address is exposed.
ctypedef void (*LetGo)(PyObject *array, bint by_address) noexcept
cdef int watch_memory(LetGo function) except -1
cdef LetGo let_go                      # the registered function, or NULL

# Wrap `array`, a view of the memory of `x`, in a tensor.
cdef Tensor view_on(Tensor x, object array)
# Set the origin of a new view that an operator returned together with other views.
cdef int mark_one_of_several(Tensor view) except -1
# Wrap an array of any backend (or a NumPy scalar) in a new Tensor that shares its memory.
cpdef Tensor wrap_array(object array)
# Wrap an ndarray whose ScalarType is known in a new Tensor, without a dtype lookup.
cdef Tensor wrap_cpu(object array, int scalar_type)
# Replace the array of `t`, for in-place changes of shape or dtype.
cdef int rebind(Tensor t, object array) except -1
cdef inline int rank_of(Tensor x) except -1:
    """Return the number of dimensions."""
    return ndim_of(<PyArrayObject *>x.array) if x.backend == BACKEND_CPU else x.array.ndim

# Return the shape as a `Size`.
cdef object shape_of(Tensor x)
# Return the package `ts.backends`, imported at the first call.
cdef object backend_registry()
