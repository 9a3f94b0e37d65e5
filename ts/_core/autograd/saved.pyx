"""Saved tensors (saved variables) of backward nodes, with version-counter checks and saved-tensor hooks.

Input: tensors. Output: the same tensors when their backward node runs.

If a saved tensor was written in place, its node raises RuntimeError. Hooks can replace the saved tensors of a
thread. In this example, a node saves pack(x) instead of x, and its backward reads unpack(pack(x)):

    with saved_tensors_hooks(pack, unpack):
        ...
"""

import threading

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free

from ts._core.autograd.anomaly cimport searching
from ts._core.autograd.history cimport edge_of, set_history
from ts._core.autograd.node cimport Node
from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, counter_apart, is_dispatched, is_layered, version_of, wrap_cpu
from ts._core.tensor.tensor_metadata cimport detached_from
from ts._core.thread.context cimport GRAD_DISABLED, context_flags, current_transform, set_flag
from ts._core.value.container cimport List, list_item, list_new, list_store
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT, release, set_object
from ts._core.value.no_python_construction cimport seal

cnp.import_array()

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *x) noexcept

cdef extern from "numpy/arrayobject.h":
    PyObject *PyArray_BASE(PyArrayObject *array) noexcept  # returns a borrowed reference

# Thread-local attributes: `hooks` is a stack of pairs (pack hook, unpack hook), of which the last one is
# active. `disabled_error` is None while hooks are allowed. Otherwise, it is the text of the error that
# `push_hooks` raises.
cdef object here = threading.local()
hooked = 0


@cython.trashcan(True)
cdef class SavingNode(Node):
    def __dealloc__(self):
        drop_saved(self)


cdef int make_room_to_save(SavingNode node, int count) except -1:
    cdef int i
    node.saved = &node.few_saved[0] if count <= 4 else <Saved *>calloc(count, sizeof(Saved))
    if node.saved == NULL:
        raise MemoryError()
    node.saved_count = count
    for i in range(count):
        node.saved[i].value.tag, node.saved[i].version, node.saved[i].output = TAG_NONE, UNCHECKED, NO_RESULT
    return 0


cdef void drop_saved(SavingNode node) noexcept:
    cdef Saved *saved = node.saved
    cdef int i
    node.saved = NULL
    if saved != NULL:
        for i in range(node.saved_count):
            release(&saved[i].value)
    if saved != NULL and saved != &node.few_saved[0]:
        free(saved)


# ---------------------------------------------------------------- saved tensors

cdef Tensor without_history(Tensor t):
    """Return a tensor that shares the memory of `t` but has no autograd history.

    The history refers to the node that saves the tensor, which would form a reference cycle. The version
    counter of `t` refers to the history too. Therefore, the counter is moved to the result if no other object
    refers to the array, else to a VersionCounter.
    """
    cdef Tensor result
    if t.owner is not None or t.backend != BACKEND_CPU or is_layered(t) or not is_alone(<PyObject *>t.array):
        result = detached_from(t)
        result.owner = counter_apart(t)
        return result
    result = wrap_cpu(t.array, t.scalar_type)
    result.version = t.version
    t.owner = result
    return result


cdef bint is_alone(PyObject *array) noexcept:
    """Return True if the array has reference count 1, and its base array, if present, also has reference count 1."""
    cdef PyObject *base = PyArray_BASE(<PyArrayObject *>array)
    return Py_REFCNT(array) == 1 and (base == NULL or Py_REFCNT(base) == 1)


cdef int save_tensor(Saved *s, Tensor t, int output) except -1:
    cdef list hooks
    s.value.tag = TAG_NONE
    if t.of_inference and not t.transform < current_transform():  # A differentiated function can use captured tensors.
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation "
            "tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use "
            "`torch.no_grad()` instead of `torch.inference_mode()`."
        )
    detached = t if output == NO_RESULT else without_history(t)
    set_object(&s.value, detached)
    s.version, s.output = version_of(t), output
    if hooked:
        hooks = getattr(here, "hooks", None)
        if hooks:
            pack, unpack = hooks[len(hooks) - 1]
            pack_with(s, pack, unpack)
    return 0


cdef int pack_with(Saved *s, object pack, object unpack) except -1:
    cdef Tensor t = <Tensor>s.value.v.o
    cdef PackedTensor packed_tensor = PackedTensor.__new__(PackedTensor)
    cdef int version = version_of(t)
    cdef bint before
    if t.requires_grad_flag:
        packed_tensor.node = edge_of(t, &packed_tensor.output)
    before = set_flag(GRAD_DISABLED, True)
    try:
        packed_tensor.packed, packed_tensor.unpack = pack(t), unpack
    finally:
        set_flag(GRAD_DISABLED, before)
    if version_of(t) != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified "
            "by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform "
            "in-place operations on the input to a pack hook."
        )
    set_object(&s.value, packed_tensor)
    return 0


cdef Tensor saved_tensor(Saved *s, Node owner):
    cdef Tensor t, result
    cdef PackedTensor packed
    # Another saved value of the node may have an unpack hook that runs a backward pass, which may release
    # this value.
    if s.version == LET_GO or s.value.tag != TAG_OBJECT:
        raise_released()
    if type(<object>s.value.v.o) is PackedTensor:
        packed = <PackedTensor>s.value.v.o
        return unpack_tensor(packed, owner, s.output)
    t = <Tensor>s.value.v.o
    if version_of(t) != s.version:
        raise_modified(t, s.version, owner, s.output)
    if s.output == NO_RESULT or (context_flags() & GRAD_DISABLED and not is_dispatched(t)):
        return t
    result = detached_from(t)
    set_history(result, owner, s.output)
    return result


cdef Tensor unpack_tensor(PackedTensor packed, Node owner, int output):
    cdef Tensor result
    tensor = packed.unpack(packed.packed)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(tensor).__name__}"
        )
    result = detached_from(<Tensor>tensor)
    if packed.node is not None and not (result.dtype.is_floating_point or result.dtype.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    if output != NO_RESULT:
        set_history(result, owner, output)
    elif packed.node is not None:
        set_history(result, packed.node, packed.output)
    return result


cdef SavedTensorList save_several(List tensors, bint are_results):
    cdef SavedTensorList saved_list = SavedTensorList.__new__(SavedTensorList)
    cdef IValue item
    cdef Saved one
    cdef Py_ssize_t k
    saved_list.spec, saved_list.items, saved_list.versions, saved_list.are_results = tensors.spec, [], [], are_results
    for k in range(tensors.size):
        item = list_item(<PyObject *>tensors, k)
        if item.tag != TAG_OBJECT or item.v.o == NULL:
            saved_list.items.append(None)
            saved_list.versions.append(UNCHECKED)
            continue
        save_tensor(&one, <Tensor>item.v.o, <int>k if are_results else NO_RESULT)
        saved_list.items.append(<object>one.value.v.o)
        saved_list.versions.append(one.version)
        release(&one.value)
    return saved_list


cdef List saved_several(SavedTensorList saved, Node owner):
    cdef Py_ssize_t k, n = len(saved.items)
    cdef List result = list_new(saved.spec, n)
    cdef IValue item
    cdef Saved one
    for k in range(n):
        item.tag = TAG_NONE
        if saved.items[k] is not None:
            one.value.tag, one.value.v.o = TAG_OBJECT, <PyObject *>saved.items[k]
            one.version, one.output = saved.versions[k], <int>k if saved.are_results else NO_RESULT
            set_object(&item, saved_tensor(&one, owner))
        list_store(<PyObject *>result, k, &item)
        result.size = k + 1
    return result


cdef int raise_modified(Tensor t, int expected, Node owner, int output) except -1:
    cdef Node node = owner if output != NO_RESULT else None
    if node is None and t.history is not None:
        node, output = t.history.node, t.history.output
    hint = (
        "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was "
        "changed in there or anywhere later. Good luck!"
        if searching else
        "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    whose = f", which is output {output} of {node.forward_title()}," if node is not None else ""
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{t.type()} {list(t.shape)}]{whose} is at version {version_of(t)}; expected version {expected} instead. Hint: {hint}"
    )


cdef int raise_released() except -1:
    raise RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
        "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
        "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
        "after calling backward."
    )


# ---------------------------------------------------------------- garbage collection

cdef extern from "Python.h":
    ctypedef int (*Visit "visitproc")(PyObject *x, void *arg) noexcept
    ctypedef int (*Traverse "traverseproc")(PyObject *x, Visit visit, void *arg) noexcept
    ctypedef int (*Clear "inquiry")(PyObject *x) noexcept
    ctypedef struct TypeSlots "PyTypeObject":
        Traverse tp_traverse
        Clear tp_clear
    void PyType_Modified(TypeSlots *t) noexcept

cdef Traverse base_traverse = (<TypeSlots *>SavingNode).tp_traverse
cdef Clear base_clear = (<TypeSlots *>SavingNode).tp_clear


cdef int traverse(PyObject *x, Visit visit, void *arg) noexcept:
    cdef Saved *saved = (<SavingNode>x).saved
    cdef int i, status = base_traverse(x, visit, arg)
    if saved != NULL:
        for i in range((<SavingNode>x).saved_count):
            if status == 0 and saved[i].value.tag == TAG_OBJECT and saved[i].value.v.o != NULL:
                status = visit(saved[i].value.v.o, arg)
    return status


cdef int clear(PyObject *x) noexcept:
    drop_saved(<SavingNode>x)
    return base_clear(x)


(<TypeSlots *>SavingNode).tp_traverse = traverse
(<TypeSlots *>SavingNode).tp_clear = clear
PyType_Modified(<TypeSlots *>SavingNode)


# ---------------------------------------------------------------- saved-tensor hooks

cdef class SavedTensor:
    """Handle of one saved tensor (`_raw_saved_self`), on which hooks can be registered."""

    cdef SavingNode node
    cdef int index

    cdef Saved *there(self) except NULL:
        if self.node.saved == NULL or self.node.saved[self.index].version == LET_GO:
            raise_released()
        return &self.node.saved[self.index]

    @property
    def data(self):
        """Return the saved tensor, unpacked by the hook."""
        return saved_tensor(self.there(), self.node)

    def register_hooks(self, pack_hook, unpack_hook):
        """Save pack_hook(tensor) in place of the tensor, and restore the tensor with `unpack_hook`.

        A second call for the same saved tensor raises an error.
        """
        cdef Saved *s = self.there()
        if type(<object>s.value.v.o) is PackedTensor:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
                "allowed at a time."
            )
        pack_with(s, pack_hook, unpack_hook)


def save(Tensor x not None):
    """Return a `SavedTensor` of `x`, for Python functions that save tensors."""
    cdef SavingNode node = SavingNode.__new__(SavingNode)
    make_room_to_save(node, 1)
    save_tensor(&node.saved[0], x, NO_RESULT)
    return saved_at(node, 0)


cdef object saved_at(SavingNode node, int index):
    cdef SavedTensor result = SavedTensor.__new__(SavedTensor)
    if node.is_released or node.saved == NULL:
        raise_released()
    if node.saved[index].version == UNCHECKED:
        return None
    result.node, result.index = node, index
    return result



def push_hooks(pack, unpack):
    """Activate a pair of saved-tensor hooks in this thread. Raise RuntimeError while hooks are forbidden."""
    global hooked
    if getattr(here, "disabled_error", None) is not None:
        raise RuntimeError(here.disabled_error)
    if getattr(here, "hooks", None) is None:
        here.hooks = []
    here.hooks.append((pack, unpack))
    hooked += 1


def pop_hooks():
    """Remove the innermost pair of saved-tensor hooks of this thread."""
    global hooked
    if getattr(here, "hooks", None):
        here.hooks.pop()
        hooked -= 1


def top_hooks():
    """Return the active pair of saved-tensor hooks of this thread, or None if there is none."""
    hooks = getattr(here, "hooks", None)
    return hooks[len(hooks) - 1] if hooks else None


def forbid_hooks(reason):
    """Make `push_hooks` raise RuntimeError(reason) in this thread, or allow hooks if `reason` is None.

    Return the previous reason. If `reason` is not None and hooks are active, raise RuntimeError(reason).
    """
    before = getattr(here, "disabled_error", None)
    if reason is not None and getattr(here, "hooks", None):
        raise RuntimeError(reason)
    here.disabled_error = reason
    return before


seal(PackedTensor)
seal(SavedTensorList)
seal(SavedTensor)
