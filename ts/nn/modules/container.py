"""Modules that hold modules: in a sequence, a list, a dictionary.

Sequential(Linear(3, 4), ReLU())        called one after the other
ModuleList([Linear(3, 3)] * 2)          indexed and iterated like a list
ModuleDict({"a": Linear(3, 3)})         indexed and iterated like a dictionary

Their children are ordinary submodules named "0", "1", ... or by their keys.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Self, overload

from ts.nn.modules.module import Module


class _Indexed(Module):
    """Children named by their positions."""

    _ts_container = "list"

    def _key(self, index: int) -> str:
        """The name of the child at `index`."""
        position = operator.index(index)
        size = len(self)
        if not -size <= position < size:
            raise IndexError(f"index {position} is out of range")
        return next(islice(self._modules, position % size, None))

    def _of(self, modules: Iterable[Module]) -> Self:
        """A container of the same class with other children."""
        return type(self)(modules)

    @overload
    def __getitem__(self, index: slice) -> Self: ...
    @overload
    def __getitem__(self, index: int) -> Module: ...
    def __getitem__(self, index: int | slice) -> Module | Self:
        if isinstance(index, slice):
            return self._of(list(self._modules.values())[index])
        return self._modules[self._key(index)]  # type: ignore[no-any-return]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: int | slice) -> None:
        if isinstance(index, slice):
            for name in list(self._modules)[index]:
                delattr(self, name)
        else:
            delattr(self, self._key(index))
        self._number(list(self._modules.values()))

    def _number(self, modules: list[Module]) -> None:
        """Let the children be these, named by their positions."""
        self._modules.clear()
        self._modules.update({str(i): module for i, module in enumerate(modules)})

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        if not isinstance(modules, Iterable):
            given = type(modules).__name__
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got {given}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Add a module before the one at `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._number(modules)
        return self

    def pop(self, key: int | slice) -> Module:
        """Take the module at `key` out."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Indexed):
    """Modules called one after the other; made from modules or from an OrderedDict of named ones."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named: Iterable[tuple[str, Module]] = args[0].items()
        else:
            named = ((str(i), module) for i, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def _of(self, modules: Iterable[Module]) -> Self:
        return type(self)(*modules)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return super().__getitem__(index)

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return self.extend(other)

    def __mul__(self, times: int) -> Sequential:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return Sequential(*list(self) * times)

    __rmul__ = __mul__

    def forward(self, input):  # type: ignore[no-untyped-def]  # annotated, it would take tensors only
        for module in self:
            input = module(input)
        return input


class ModuleList(_Indexed):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def insert(self, index: int, module: Module) -> None:  # type: ignore[override]  # a list's gives None
        """Add a module before the one at `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._number(modules)

    def __repr__(self) -> str:
        """Equal neighbours are one line: `(0-2): 3 x Linear(...)`."""
        texts = [repr(module) for module in self]
        if not texts:
            return f"{self._get_name()}()"
        runs: list[list[int]] = []
        for i, text in enumerate(texts):
            if i and text == texts[i - 1]:
                runs[-1][1] = i
            else:
                runs.append([i, i])
        lines = []
        for first, last in runs:
            text = texts[first].replace("\n", "\n  ")
            lines.append(
                f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
            )
        return "\n  ".join([f"{self._get_name()}(", *lines]) + "\n)"


class ModuleDict(Module):
    """A dictionary of modules, in the order of insertion."""

    _ts_container = "dict"

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]  # type: ignore[no-any-return]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take everything out."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take one module out."""
        return self._modules.pop(key)  # type: ignore[no-any-return]

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add or replace modules: a mapping, or pairs of a name and a module."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(modules).__name__}"
            )
        if isinstance(modules, Mapping | ModuleDict):
            modules = modules.items()
        for i, pair in enumerate(modules):
            if not isinstance(pair, Iterable):
                raise TypeError(
                    f"ModuleDict update sequence element #{i} should be Iterable; is {type(pair).__name__}"
                )
            listed = list(pair)
            if len(listed) != 2:
                raise ValueError(
                    f"ModuleDict update sequence element #{i} has length {len(listed)}; 2 is required"
                )
            self[listed[0]] = listed[1]
