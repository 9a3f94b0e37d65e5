"""Monkey patching of functions and methods during tracing, reverted at the end.

In this example, the end of the `with` block reverts all patches:

    with new_patcher() as patcher:
        patcher.patch_method(Module, "__call__", recording)
        patch_wrapped_functions(patcher)                # calls of functions of `wrap` become nodes

As in PyTorch, patches affect all threads.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

from ts.fx.node import map_aggregate
from ts.fx.proxy import Proxy

_MARK: Final = "__fx_already_patched"
# (id of a globals dictionary, name of a function in it that `wrap` registered) -> globals dictionary
wrapped_functions: Final[dict[tuple[int, str], dict[str, Any]]] = {}
wrapped_methods: Final[list[tuple[type, str]]] = []
_MISSING: Final = object()


class Patcher:
    """List of replaced globals and methods, which are restored in reverse order."""

    def __init__(self) -> None:
        self.patches_made: list[
            tuple[Callable[[], None], Callable[[], None]]
        ] = []  # (function that applies the patch, function that reverts the patch)
        self.visited: set[int] = set()

    def _add(self, do: Callable[[], None], revert: Callable[[], None]) -> None:
        self.patches_made.append((do, revert))
        do()

    def patch(
        self, frame_dict: dict[str, Any], name: str, new_fn: Callable[..., Any], deduplicate: bool = True
    ) -> None:
        """Replace the global `name` in `frame_dict` by `new_fn`.

        Do nothing if the current value of this global is a replacement from a patch with `deduplicate=True`.
        """
        setattr(new_fn, _MARK, deduplicate)
        before = frame_dict.get(name, _MISSING)
        if before is _MISSING:
            if not hasattr(builtins, name):
                raise KeyError(name)
            revert: Callable[[], Any] = functools.partial(frame_dict.pop, name)
        elif getattr(before, _MARK, False):
            return
        else:
            revert = functools.partial(frame_dict.__setitem__, name, before)
        self._add(functools.partial(frame_dict.__setitem__, name, new_fn), revert)

    def patch_method(
        self, cls: type, name: str, new_fn: Callable[..., Any], deduplicate: bool = True
    ) -> None:
        """Replace the method `name` of a class by `new_fn`.

        Do nothing if an earlier patch with `deduplicate=True` has replaced this method.
        """
        setattr(new_fn, _MARK, deduplicate)
        before = getattr(cls, name)
        if not getattr(before, _MARK, False):
            self._add(
                functools.partial(setattr, cls, name, new_fn), functools.partial(setattr, cls, name, before)
            )

    def visit_once(self, namespace: object) -> bool:
        """Return True for the first call with the object `namespace`, otherwise False."""
        if id(namespace) in self.visited:
            return False
        self.visited.add(id(namespace))
        return True

    def revert_all_patches(self) -> None:
        """Revert all patches, last patch first."""
        for _, revert in reversed(self.patches_made):
            revert()

    def reapply_all_patches(self) -> None:
        """Apply all patches again."""
        for do, _ in self.patches_made:
            do()

    def __enter__(self) -> Patcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.revert_all_patches()
        self.patches_made.clear()
        self.visited.clear()


_current: list[Patcher] = []


@contextlib.contextmanager
def new_patcher() -> Iterator[Patcher]:
    """Yield a patcher, whose patches are reverted at the end of the block."""
    patcher = Patcher()
    _current.append(patcher)
    try:
        with patcher:
            yield patcher
    finally:
        _current.pop()


@contextlib.contextmanager
def without_patches() -> Iterator[None]:
    """Context manager in which the patches of the current tracing are reverted."""
    patcher = _current[-1] if _current else None
    if patcher is None:
        yield
        return
    patcher.revert_all_patches()
    try:
        yield
    finally:
        patcher.reapply_all_patches()


def find_proxy(*objects: Any) -> Proxy | None:
    """Return the last proxy in `objects` and nested containers. Return None if no proxy is found."""
    proxies: list[Proxy] = []

    def collect(x: Any) -> None:
        if isinstance(x, Proxy):
            proxies.append(x)

    map_aggregate(objects, collect)
    return proxies[-1] if proxies else None


def _recording(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrapper of `function`: calls with a proxy become nodes, other calls run `function`."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    return wrapped


def _recording_method(cls: type, name: str) -> Callable[..., Any]:
    method = getattr(cls, name)

    @functools.wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return method(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


def patch_wrapped_functions(patcher: Patcher) -> None:
    """Patch the functions registered by `wrap`, so that their calls become nodes."""
    for (_, name), names in wrapped_functions.copy().items():
        function = names[name] if name in names else getattr(builtins, name, None)
        if function is None:
            raise KeyError(name)
        patcher.patch(names, name, _recording(function))
    for cls, name in wrapped_methods:
        patcher.patch_method(cls, name, _recording_method(cls, name))


def autowrap(patcher: Patcher, names: dict[str, Any], functions: set[int]) -> None:
    """Patch the globals in `names` whose ids are in `functions`, so that their calls become nodes."""
    if patcher.visit_once(names):
        for name, value in list(names.items()):
            if not name.startswith("_") and callable(value) and id(value) in functions:
                patcher.patch(names, name, _recording(value))


def wrap(fn_or_name: Any) -> Any:
    """Register a global function: its calls become nodes, and its body is not traced.

    Call `wrap` at module level with the name of a function of the module, or use `wrap` as a decorator.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    wrapped_functions[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name
