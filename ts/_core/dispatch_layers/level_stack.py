"""Stack of nested transform levels (dynamic layer stack) of this thread, and dispatch to these levels.

A level is open from `push` to `pop`, such as during a call of a function that `vmap` returned. The context
managers are:

    with push_level(run, wrap) as level:        # inside of the block, tensors may have layers of this level
        with below_level(level):                # operators run as if the level were not open
            ...
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ts._core.autograd.operator_node import bare
from ts._core.dispatch.record_kernels import mark_as_view
from ts._core.dispatch_layers import transform_dispatch
from ts._core.dispatch_layers.layer import Layer
from ts._core.late_binding import resolve
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import (
    detached,
    detached_array,
    hide_elements,
    layer_of,
    mark_created,
    set_layer,
)
from ts._core.thread.context import (
    exchange_min_writable_transform,
    get_min_writable_transform,
    is_inference_mode_enabled,
)

Run = Callable[["Level", Any, list[Any]], Any]
# The next two numbers are reserved levels. Levels of function transforms have higher numbers.
FAKES = 1  # level of the layers of fake tensors
# Level of tensors whose class defines `__torch_dispatch__`. `transform_dispatch.pyx` has the same constant.
SUBCLASSES = 2


class Level:
    """A transform level, such as one call of `vmap`.

    level_id        number of the level, higher for inner levels
    run             function run(level, operator, arguments), for operators whose highest level is this one
    size            batch size
    random          randomness mode: "error", "same", "different", or "" for no special handling
    hides_elements  True if the arrays of tensors with this level have no elements (function transforms)
    in_inference    True if the level was opened in inference mode
    min_writable_transform
                    smallest transform number of tensors that in-place operators accept below this level
    """

    def __init__(self, level_id: int, run: Run, wrap: Callable[[Level, Tensor], Layer]) -> None:
        self.level_id = level_id
        self.run = run
        self.wrap = wrap
        self.size = 0
        self.random = ""
        self.hides_elements = True
        self.in_inference = is_inference_mode_enabled()
        self.min_writable_transform = get_min_writable_transform()
        self.is_closed = False

    def is_open(self) -> bool:
        """Return whether operators can still run on tensors of this level."""
        return not self.is_closed


class _Stack(threading.local):
    def __init__(self) -> None:
        self.open: list[Level] = []
        self.last = SUBCLASSES
        self.fakes = False  # True if fake tensors, which have the level FAKES, may exist
        self.modes = False  # True if the thread has dispatch modes


_here = _Stack()
_has_subclasses = False  # True if a tensor of the level SUBCLASSES was created in this process


def expect_modes(there_are: bool) -> None:
    """Enable or disable calls of dispatch modes by the operators of this thread.

    `there_are` is True if the thread has active modes.
    """
    _here.modes = there_are
    transform_dispatch.set_dispatch_modes(there_are)
    _watch()


def expect_subclasses() -> None:
    """Enable the dispatch to handlers of tensor classes (level SUBCLASSES) permanently, in all threads."""
    global _has_subclasses
    if not _has_subclasses:
        _has_subclasses = True
        transform_dispatch.watch_all_threads()


def expect_fakes(there_are: bool) -> None:
    """Enable or disable the dispatch of operators on fake tensors in this thread.

    `there_are` is True if there are fake tensors.
    """
    _here.fakes = there_are
    _watch()


def _watch() -> None:
    transform_dispatch.enable_transform_dispatch(
        _here.fakes or _here.modes or _has_subclasses or bool(_here.open)
    )


class no_transforms:
    """Context manager that disables the dispatch to transform levels, so that operators ignore layers."""

    __slots__ = ("before", "had_subclasses")

    def __enter__(self) -> None:
        self.had_subclasses = _has_subclasses
        self.before = transform_dispatch.enable_transform_dispatch(False)

    def __exit__(self, *error: Any) -> None:
        transform_dispatch.enable_transform_dispatch(self.before or self.had_subclasses != _has_subclasses)


def top() -> Level | None:
    """Return this thread's innermost open level, or None without open levels."""
    return _here.open[-1] if _here.open else None


def open_levels() -> list[Level]:
    """Return the open levels of this thread, outermost first."""
    return list(_here.open)


def depth(level_number: int) -> int:
    """Return the number of open levels up to the level `level_number`."""
    return sum(level.level_id <= level_number for level in _here.open)


@contextmanager
def push_level(run: Run, wrap: Callable[[Level, Tensor], Layer]) -> Iterator[Level]:
    """Context manager that opens a level.

    `wrap(level, tensor)` returns the layer for a tensor that has no layer of this level.
    """
    level = push(run, wrap)
    try:
        yield level
    finally:
        pop(level)


def push(run: Run, wrap: Callable[[Level, Tensor], Layer]) -> Level:
    """Open a level and return it. `pop` closes it."""
    _here.last += 1
    level = Level(_here.last, run, wrap)
    _here.open.append(level)
    transform_dispatch.enable_transform_dispatch(True)
    return level


def pop(level: Level) -> None:
    """Close a level and all levels that were opened inside of it."""
    at = _here.open.index(level)
    for closed in _here.open[at:]:
        closed.is_closed = True
    del _here.open[at:]
    _watch()


class below_level:
    """Context manager that disables a level and all levels inside of it."""

    __slots__ = ("before", "level", "min_writable_transform")

    def __init__(self, level: Level) -> None:
        self.level = level

    def __enter__(self) -> None:
        self.before = before = _here.open
        _here.open = before[: before.index(self.level)]
        self.min_writable_transform = exchange_min_writable_transform(self.level.min_writable_transform)
        _watch()

    def __exit__(self, *error: Any) -> None:
        _here.open = self.before
        exchange_min_writable_transform(self.min_writable_transform)
        transform_dispatch.enable_transform_dispatch(True)


def call_decomposition(function: Callable[..., Any], args: list[Any]) -> Any:
    """Call `function`, an operator's decomposition. Its errors are raised as if the operator raised them."""
    try:
        return function(*args)
    except Exception as error:
        failure = bare(error)
    raise failure


def layered(x: Tensor, layer: Layer, viewed: Tensor | None = None, of_batch: bool = False) -> Tensor:
    """Return a new tensor whose `layer` wraps the tensor `x`. The new tensor has no autograd history.

    If `viewed` is given, the new tensor is marked as its view. Writes to `x` count as writes to the new
    tensor. If `of_batch`, the new tensor has the shape of `x` without the first dimension.
    """
    result = detached_array(x)
    if layer.hides_elements:
        hide_elements(result, x, of_batch)
    set_layer(result, layer)
    mark_as_view(result, viewed)
    return result


def of_level(x: Any, level: Level) -> Layer | None:
    """Return this level's layer of tensor `x`, or None for other values."""
    layer = layer_of(x) if isinstance(x, Tensor) else None
    return layer if layer is not None and layer.level == level.level_id else None


def require_grad_at_level(x: Tensor) -> Tensor:
    """Return a tensor with the elements and history of `x` that requires grad at the innermost level."""
    level = top()
    if level is not None and of_level(x, level) is None:
        x = layered(x, level.wrap(level, x))
    return mark_created(x.view_as(x) if x.requires_grad else detached(x))._marked(True)


def requires_grad_below(x: Any) -> bool:
    """Return whether `x` wraps an inner tensor, at any lower level, that requires grad."""
    layer = layer_of(x) if isinstance(x, Tensor) else None
    return layer is not None and (layer.inner.requires_grad or requires_grad_below(layer.inner))


def run_on_levels(op: Any, args: list[Any], level_number: int) -> Any:
    """Run an operator. `level_number` is the highest level among its arguments, or 0 if they have no layers.

    Levels of function transforms run before `__torch_dispatch__` handlers.
    """
    if level_number == SUBCLASSES or (level_number < SUBCLASSES and _here.modes):
        return resolve("torch_dispatch").run(op, args)
    if level_number == 0:
        return run_without_layers(op, args)
    if level_number == FAKES:
        return resolve("run_on_fakes")(op, args)
    for level in _here.open:
        if level.level_id == level_number:
            return level.run(level, op, args)
    return op.call_list([_without(x, level_number) for x in args])


def _without(x: Any, level_number: int) -> Any:
    """Return `x`, in which each tensor of the closed level `level_number` is replaced by its inner tensor."""
    if isinstance(x, list):
        return [_without(y, level_number) for y in x]
    layer = layer_of(x) if isinstance(x, Tensor) else None
    if layer is None and isinstance(x, Tensor):  # detach the tensor from a base that may have a layer
        return detached(x)
    if layer is None or layer.level != level_number:
        return x
    layer.check_open()
    return layer.inner


def run_without_layers(op: Any, args: list[Any]) -> Any:
    """Run an operator on tensors without layers.

    Inside of `vmap`, random operators run at the level of `vmap` nevertheless.
    """
    if op.record.nondeterministic:
        for level in reversed(_here.open):
            if level.random:
                return level.run(level, op, args)
    transform_dispatch.enable_transform_dispatch(False)
    try:
        return op.call_list(args)
    finally:
        transform_dispatch.enable_transform_dispatch(True)
