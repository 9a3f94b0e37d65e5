"""What nodes save for the way back.

In: tensors; out: the same tensors when their node has its turn, or an error if they were written since.

    with saved_tensors_hooks(pack, unpack): ...      inside, what is saved is pack(x); unpack of that comes back

Hooks are a thread's own.  While none are set anywhere, saving pays a load and a branch for them.
"""

import threading

from cpython.object cimport PyObject
from libc.stdlib cimport free

from ts._core.autograd.history cimport edge_of, set_history
from ts._core.autograd.node cimport Node
from ts._core.tensor.tensor cimport Tensor, detached_from, version_of
from ts._core.thread.context cimport GRAD_DISABLED, context_flags, set_flag
from ts._core.value.container cimport List, list_item, list_new, list_store
from ts._core.value.ivalue cimport IValue, TAG_NONE, TAG_OBJECT, release, set_object
from ts._core.value.sealed cimport seal

cdef object here = threading.local()   # hooks: pairs, the last one counts; refusal: why there may be none, or None
cdef int hooked = 0                    # how many pairs there are, of all threads


cdef int save_tensor(Saved *s, Tensor t, bint is_result) except -1:
    cdef list hooks
    s.value.tag = TAG_NONE
    kept = detached_from(t) if is_result else t
    set_object(&s.value, kept)
    s.version = version_of(t)
    if hooked:
        hooks = getattr(here, "hooks", None)
        if hooks:
            pack, unpack = hooks[len(hooks) - 1]
            pack_with(s, pack, unpack)
    return 0


cdef int pack_with(Saved *s, object pack, object unpack) except -1:
    cdef Tensor t = <Tensor>s.value.v.o
    cdef Tensor shown = detached_from(t)
    cdef Packed made = Packed.__new__(Packed)
    cdef int version = version_of(shown)
    cdef bint before
    if t.wants_grad:
        made.node = edge_of(t, &made.output)
    before = set_flag(GRAD_DISABLED, True)
    try:
        made.packed, made.unpack = pack(shown), unpack
    finally:
        set_flag(GRAD_DISABLED, before)
    if version_of(shown) != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be modified "
            "by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform "
            "in-place operations on the input to a pack hook."
        )
    release(&s.value)
    set_object(&s.value, made)
    return 0


cdef Tensor saved_tensor(Saved *s, Node owner, int output):
    cdef Tensor t, made
    cdef Node node
    if type(<object>s.value.v.o) is Packed:
        return unpacked(<Packed>s.value.v.o, owner, output)
    t = <Tensor>s.value.v.o
    if version_of(t) != s.version:
        raise_modified(t, s.version, owner, output)
    if output == NO_RESULT or context_flags() & GRAD_DISABLED:
        return t
    made = detached_from(t)
    set_history(made, owner, output)
    return made


cdef Tensor unpacked(Packed packed, Node owner, int output):
    cdef Tensor made
    found = packed.unpack(packed.packed)
    if not isinstance(found, Tensor):
        raise TypeError(
            f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(found).__name__}"
        )
    made = detached_from(<Tensor>found)
    if output != NO_RESULT:
        set_history(made, owner, output)
    elif packed.node is not None:
        set_history(made, packed.node, packed.output)
    return made


cdef Several save_several(List tensors, bint are_results):
    cdef Several made = Several.__new__(Several)
    cdef IValue item
    cdef Saved one
    cdef Py_ssize_t k
    made.spec, made.items, made.versions = tensors.spec, [], []
    for k in range(tensors.size):
        item = list_item(<PyObject *>tensors, k)
        if item.tag != TAG_OBJECT or item.v.o == NULL:
            made.items.append(None)
            made.versions.append(UNCHECKED)
            continue
        save_tensor(&one, <Tensor>item.v.o, are_results)
        made.items.append(<object>one.value.v.o)
        made.versions.append(one.version)
        release(&one.value)
    return made


cdef List saved_several(Several saved, Node owner):
    cdef Py_ssize_t k, n = len(saved.items)
    cdef List made = list_new(saved.spec, n)
    cdef IValue item
    cdef Saved one
    for k in range(n):
        item.tag = TAG_NONE
        if saved.items[k] is not None:
            one.value.tag, one.value.v.o = TAG_OBJECT, <PyObject *>saved.items[k]
            one.version = saved.versions[k]
            set_object(&item, saved_tensor(&one, owner, NO_RESULT if owner is None else <int>k))
        list_store(<PyObject *>made, k, &item)
        made.size = k + 1
    return made


cdef int raise_modified(Tensor t, int expected, Node owner, int output) except -1:
    cdef Node node = owner if output != NO_RESULT else None
    if node is None and t.history is not None:
        node, output = t.history.node, t.history.output
    whose = f", which is output {output} of {node.title()}," if node is not None else ""
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{t.type()} {list(t.shape)}]{whose} is at version {version_of(t)}; expected version {expected} instead. Hint: "
        "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True)."
    )


cdef int raise_released() except -1:
    raise RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
        "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
        "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
        "after calling backward."
    )


cdef int drop_all(Saved *saved, int count) noexcept:
    """Give back what is saved, and the room for it."""
    cdef int i
    if saved != NULL:
        for i in range(count):
            release(&saved[i].value)
    free(saved)
    return 0


# ---------------------------------------------------------------- hooks

def push_hooks(pack, unpack):
    """From now on this thread saves pack(x) instead of x, and gets a tensor back by `unpack`; RuntimeError where that is refused."""
    global hooked
    if getattr(here, "refusal", None) is not None:
        raise RuntimeError(here.refusal)
    if getattr(here, "hooks", None) is None:
        here.hooks = []
    here.hooks.append((pack, unpack))
    hooked += 1


def pop_hooks():
    """As before the last `push_hooks` of this thread."""
    global hooked
    if getattr(here, "hooks", None):
        here.hooks.pop()
        hooked -= 1


def top_hooks():
    """The pair of hooks that counts in this thread, or None."""
    hooks = getattr(here, "hooks", None)
    return hooks[len(hooks) - 1] if hooks else None


def refuse_hooks(reason):
    """Raise RuntimeError(reason) for hooks from now on, unless it is None; the reason so far comes back."""
    before = getattr(here, "refusal", None)
    if reason is not None and getattr(here, "hooks", None):
        raise RuntimeError(reason)
    here.refusal = reason
    return before


seal(Packed)
seal(Several)
