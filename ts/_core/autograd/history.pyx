"""Autograd histories of tensors, before and after in-place writes, and their hooks.

A tensor stores its backward node. If a base is written in place, the nodes of its views become invalid. The
next access to a view replaces its node.
"""

import weakref

from ts._core.autograd.leaf cimport AccumulateGrad
from ts._core.autograd.node cimport Hooks, Node, hooks_of
from ts._core.autograd.views cimport node_of_base, view_node, written_view
from ts._core.tensor.tensor cimport (
    DEFAULT,
    IN_INFERENCE,
    IN_NO_GRAD,
    ONE_OF_SEVERAL,
    AutogradMeta,
    Tensor,
    history_of,
    needs_grad,
    version_of,
    wrote,
)
from ts._core.tensor.tensor_metadata cimport set_node_of_view


cdef Node edge_of(Tensor t, int *output):
    if t.base is not None and t.version != version_of(t):
        refresh(t)
    return node_of_base(t, output)


cdef int refresh(Tensor view) except -1:
    """Replace the node of a view after a write to its memory.

    Raise RuntimeError if the view does not allow writes to its base. An example is a result of `unbind`.
    """
    cdef AutogradMeta history = view.history
    cdef Tensor base = view.base
    cdef int now = version_of(view)
    if view.version == now or not base.requires_grad_flag and (history is None or history.node is None):
        return 0
    if view.creation != DEFAULT:
        raise_written_view(view, "its base or another view of its base has been")
    node = view_node(view, base)
    history = history_of(view)
    before, output = history.node, history.output
    history.node, history.output, view.version = node, 0, now
    view.requires_grad_flag = True
    if history.retained:
        move_retained(view, before, output)
    return 0


cdef int move_retained(Tensor t, Node before, int output) except -1:
    """Move the `retain_grad()` entry of `t` from the hooks of its previous node to the hooks of its current node.

    `t` was result number `output` of the previous node `before`.
    """
    if before is None or before.hooks is None:
        return 0
    reference = before.hooks.retained.get(output)
    if reference is None or reference() is not t:
        return 0
    del before.hooks.retained[output]
    hooks_of(<Node>t.history.node).retained[t.history.output] = reference
    return 0


cdef int set_history_of_written(Tensor t, Node node, int output) except -1:
    """Record that `t`, which is not a view, is result number `output` of `node` after an in-place write."""
    cdef AutogradMeta history = history_of(t)
    before, output_before = history.node, history.output
    set_history(t, node, output)
    if history.retained:
        move_retained(t, before, output_before)
    return 0


cdef object node_behind_view(Tensor view):
    refresh(view)
    return None if view.history is None else view.history.node


set_node_of_view(node_behind_view)


# ---------------------------------------------------------------- in-place writes

cdef int check_write_to(Tensor t) except -1:
    cdef Tensor base = t.base
    if base is None:
        if needs_grad(t) and (t.history is None or t.history.node is None):
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        return 0
    if t.creation != DEFAULT:
        raise_written_view(t, "is being")
    if needs_grad(t) and (base.history is None or base.history.node is None):
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    return 0


cdef int raise_written_view(Tensor t, str is_being) except -1:
    """Raise RuntimeError for a view that forbids in-place writes to its memory."""
    cdef bint unrecorded = t.creation == IN_NO_GRAD or t.creation == IN_INFERENCE
    node = None if t.history is None else t.history.node
    begin = "A view" if node is None else f"Output {t.history.output} of {(<Node>node).forward_title()} is a view"
    if unrecorded and node is not None:
        begin = f"{begin} of a view which"
    if unrecorded or node is None:
        mode, now = ("inference", "in normal mode") if t.creation == IN_INFERENCE else ("no_grad", "with grad mode enabled")
        begin = f"{begin} was created in {mode} mode and {is_being} modified inplace {now}. "
    else:
        begin = f"{begin} and {is_being} modified inplace. "
    if unrecorded:
        block = "inference_mode" if t.creation == IN_INFERENCE else "no_grad"
        raise RuntimeError(
            f"{begin}Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
            f"the view and the inplace either both inside the {block} block (if you don't want the inplace to be tracked) or both "
            "outside (if you want the inplace to be tracked)."
        )
    if t.creation == ONE_OF_SEVERAL:
        raise RuntimeError(
            f"{begin}This view is the output of a function that returns multiple views. Such functions do not allow the output "
            "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
    raise RuntimeError(
        f"{begin}This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to "
        "handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect "
        "gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
    )


cdef int check_write_by_function(Tensor t, int results) except -1:
    if needs_grad(t) and (t.history is None or t.history.node is None):
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    if t.base is not None and results > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than "
            "one Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view "
            "(using .clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: "
            "one doing the inplace that returns a single Tensor and a second one that does the other operations). You can ask on the "
            "forum https://discuss.pytorch.org/ if you need help to do this change."
        )
    if t.base is not None and t.creation != DEFAULT:
        raise_written_view(t, "is being")
    if t.base is not None and t.base.requires_grad_flag and (t.base.history is None or t.base.history.node is None):
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    return 0


cdef int set_history_of_reshaped(Tensor t, Node node, int output) except -1:
    """Record that `t` is result number `output` of `node` after an in-place view operator such as `t_`.

    The operator changes only the sizes and strides of `t`, so the history of a base of `t` does not change.
    """
    set_history_of_written(t, node, output)
    t.version = version_of(t)
    return 0


cdef int rebase_history(Tensor t, Node node, int output, int edge) except -1:
    cdef Tensor base = t.base
    cdef Node base_node
    if base is None:
        return set_history_of_written(t, node, output)
    base_node = written_view(t, base, node, output, edge)
    set_history_of_written(base, base_node, 0)
    t.version = -1                     # an invalid version, so that the next access replaces the node of the view
    t.requires_grad_flag = True
    if t.history is not None and t.history.retained:
        refresh(t)
    return 0


# ---------------------------------------------------------------- access from Python

cdef int require(Node node) except -1:
    if node is None:
        raise RuntimeError("the tensor does not require grad")
    return 0


def node_of(Tensor x not None):
    """Return the backward node of `x`, and the number of `x` among the results of the node.

    For a leaf, the node is its AccumulateGrad node.
    """
    cdef int output = 0
    node = edge_of(x, &output)
    return node, output


def hooks_of_tensor(Tensor x not None):
    """Return the `Hooks` of the backward node of `x`, and the output number of `x`.

    A leaf stores a reference to its `Hooks`, because its AccumulateGrad node may be released and created
    again. Views that were created in `no_grad` mode are leaves without such a node.
    """
    cdef int output = 0
    cdef Node node = edge_of(x, &output)
    cdef AutogradMeta history
    if not needs_grad(x):
        require(node)
    if node is not None and type(node) is not AccumulateGrad:
        return hooks_of(node), output
    history = history_of(x)
    if history.hooks is None:
        history.hooks = Hooks()
    if node is not None:
        node.hooks = history.hooks
    return history.hooks, 0


def retain(Tensor x not None):
    """Make backward store the gradient of a non-leaf tensor in its `grad`."""
    cdef int output = 0
    cdef Node node = edge_of(x, &output)
    require(node)
    history_of(x).retained = True
    hooks_of(node).retained[output] = weakref.ref(x)


def has_node(Tensor x not None):
    """Return whether `x` has a backward node, which may be invalid after a write to the base of `x`."""
    return bool(x.history is not None and x.history.node is not None)


def output_of(Tensor x not None):
    """Return the number of `x` among the results of its backward node, or 0 without a node."""
    return 0 if x.history is None else x.history.output


def is_retained(Tensor x not None):
    """Return whether a non-leaf tensor retains its gradient."""
    return bool(x.history is not None and x.history.retained)


def forget(Tensor x not None):
    """Make `x` a leaf that does not require grad."""
    cdef AutogradMeta history = x.history
    x.requires_grad_flag = False
    if history is not None:
        history.node, history.output, history.retained = None, 0, False


def count_write(Tensor x not None):
    """Increment the version counter of `x` after a write to `x` that autograd does not record."""
    wrote(x)
