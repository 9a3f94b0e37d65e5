"""Weak references to tensors, and mappings with weak keys (weak dictionary).

Keys are compared by identity. When a key is freed, its entry is removed:

    cache = WeakTensorKeyDictionary()
    cache[tensor] = "value"

Tensors cannot be keys of `weakref.WeakKeyDictionary`, because their `==` compares elements.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any
from weakref import ref

from ts._core.tensor.tensor import Tensor
from ts.unsupported import names_for

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]
WeakRef = ref
__getattr__ = names_for(__name__)


class WeakIdRef(weakref.ref):  # type: ignore[type-arg]
    """Weak reference whose hash and equality are determined by the identity of its object."""

    __slots__ = ["_id"]

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: Any) -> bool:
        referent = self()
        if referent is None or (other_referent := other()) is None:
            return self is other
        return referent is other_referent

    def __ne__(self, other: Any) -> bool:  # `weakref.ref` would compare the objects
        return not self == other


class _WeakHashRef(WeakIdRef):
    """Weak reference that has the same equality and hash as its object.

    The hash remains the same after the object is freed.
    """

    __slots__ = ()

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)
        self._id = hash(key)

    __hash__ = WeakIdRef.__hash__

    def __eq__(self, other: Any) -> bool:
        referent = self()
        if referent is None or (other_referent := other()) is None:
            return self is other
        return bool(referent == other_referent)


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """Mapping with weak keys. The class `ref_type` of the weak references determines which keys are equal.

    The entry of a freed key is removed at once, or at the end of an iteration over the mapping.
    """

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        self._freed: list[Any] = []
        self._iteration_count = 0
        self_ref = ref(self)

        def remove(reference: Any) -> None:
            mapping = self_ref()
            if mapping is None:
                return
            if mapping._iteration_count:
                mapping._freed.append(reference)
            else:
                mapping.data.pop(reference, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    @contextmanager
    def _deferred_removals(self) -> Iterator[None]:
        self._iteration_count += 1
        try:
            yield
        finally:
            self._iteration_count -= 1
            if not self._iteration_count:
                self._remove_freed()

    def _remove_freed(self) -> None:
        while self._freed:
            self.data.pop(self._freed.pop(), None)

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __len__(self) -> int:
        return len(self.data) - len(self._freed)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __contains__(self, key: object) -> bool:
        try:
            reference = self.ref_type(key)
        except TypeError:  # the type does not support weak references
            return False
        return reference in self.data

    def copy(self) -> WeakIdKeyDictionary:
        """Return a mapping with the same keys and values."""
        return type(self)(self)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        copied = type(self)()
        for key, value in self.items():
            copied[key] = copy.deepcopy(value, memo)
        return copied

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key, or `default` if the key is missing."""
        return self.data.get(self.ref_type(key), default)

    def items(self) -> Iterator[tuple[Any, Any]]:  # type: ignore[override]
        """Iterate over (key, value) pairs whose keys are alive."""
        with self._deferred_removals():
            for reference, value in self.data.items():
                key = reference()
                if key is not None:
                    yield key, value

    def keys(self) -> Iterator[Any]:  # type: ignore[override]
        """Iterate over the keys that are alive."""
        for key, _ in self.items():
            yield key

    __iter__ = keys

    def values(self) -> Iterator[Any]:  # type: ignore[override]
        """Iterate over the values whose keys are alive."""
        for _, value in self.items():
            yield value

    def keyrefs(self) -> list[Any]:
        """Return the weak references to the keys. A reference returns None if its key was freed."""
        return list(self.data)

    def popitem(self) -> tuple[Any, Any]:
        """Remove the newest key that is alive, and return it and its value."""
        self._remove_freed()
        while True:
            reference, value = self.data.popitem()
            key = reference()
            if key is not None:
                return key, value

    def pop(self, key: Any, *args: Any) -> Any:
        """Remove a key and return its value, or the default if the key is missing."""
        return self.data.pop(self.ref_type(key), *args)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key. If the key is missing, insert and return `default`."""
        return self.data.setdefault(self.ref_type(key, self._remove), default)

    def update(self, dict: Any = None, **kwargs: Any) -> None:  # type: ignore[override]
        """Set entries from a mapping or from pairs of key and value."""
        if dict is not None:
            pairs: Iterable[Any] = dict.items() if hasattr(dict, "items") else dict
            for key, value in pairs:
                self[key] = value
        if kwargs:
            self.update(kwargs)

    def __ior__(self, other: Any) -> WeakIdKeyDictionary:
        self.update(other)
        return self

    def __or__(self, other: Any) -> Any:
        return self._merge(self, other) if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return self._merge(other, self) if isinstance(other, Mapping) else NotImplemented

    def _merge(self, first: Any, second: Any) -> WeakIdKeyDictionary:
        merged = type(self)()
        merged.update(first)
        merged.update(second)
        return merged

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {id(key): value for key, value in self.items()} == {id(k): v for k, v in other.items()}

    __hash__ = None  # type: ignore[assignment]


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """Weak reference to a tensor: a call returns the tensor, or None if it was freed."""

    ref: WeakRef[Tensor]

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}.")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        """Return the referenced tensor, or None after deallocation."""
        return self.ref()
