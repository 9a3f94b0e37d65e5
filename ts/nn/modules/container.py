"""Containers of modules or parameters: sequence, list, dictionary.

A container registers its elements as submodules or parameters. Their names are "0", "1", ... or the keys.

Examples:

    Sequential(Linear(3, 4), ReLU())                        # called in order
    ModuleList([Linear(3, 3)] * 2)                          # indexed and iterated like a list
    ParameterDict({"a": Parameter(ts.ones(2))})             # indexed and iterated like a dictionary
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Self, overload

from ts._core.tensor.tensor import Tensor
from ts.nn.modules.module import Module, type_name
from ts.nn.parameter import Parameter


class _IndexedContainer(Module):
    """Base class of containers whose elements are named by their index."""

    _ts_container = "list"

    def _name_at(self, index: int) -> str:
        """Return the name of the element at `index`."""
        position = operator.index(index)
        size = len(self)
        if not -size <= position < size:
            raise IndexError(f"index {position} is out of range")
        return next(islice(self._modules, position % size, None))

    def _from_modules(self, modules: Iterable[Module]) -> Self:
        """Return a new container of this class with the given modules."""
        return type(self)(modules)

    @overload
    def __getitem__(self, index: slice) -> Self: ...
    @overload
    def __getitem__(self, index: int) -> Module: ...
    def __getitem__(self, index: int | slice) -> Module | Self:
        if isinstance(index, slice):
            return self._from_modules(list(self._modules.values())[index])
        return self._modules[self._name_at(index)]  # type: ignore[no-any-return]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        if isinstance(index, slice):
            for name in list(self._modules)[index]:
                delattr(self, name)
        else:
            delattr(self, self._name_at(index))
        self._set_numbered(list(self._modules.values()))

    def _set_numbered(self, modules: list[Module]) -> None:
        """Replace all elements by `modules`, named by their index."""
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
            argument_type = type(modules).__name__
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got {argument_type}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Insert a module before index `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._set_numbered(modules)
        return self

    def pop(self, key: int | slice) -> Module:
        """Remove and return the module at `key`."""
        module = self[key]
        del self[key]
        return module


class Sequential(_IndexedContainer):
    """Calls modules in order. It is created from modules, or an OrderedDict of named modules."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named_modules: Iterable[tuple[str, Module]] = args[0].items()
        else:
            named_modules = ((str(i), module) for i, module in enumerate(args))
        for name, module in named_modules:
            self.add_module(name, module)

    def _from_modules(self, modules: Iterable[Module]) -> Self:
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

    def forward(self, input):  # type: ignore[no-untyped-def]  # annotations would restrict `input`
        for module in self:
            input = module(input)
        return input


class ModuleList(_IndexedContainer):
    """List of modules, registered as submodules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def insert(self, index: int, module: Module) -> None:  # type: ignore[override]  # returns None, like `list.insert`
        """Insert a module before index `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._set_numbered(modules)

    def __repr__(self) -> str:
        """Return the text of the list. Equal adjacent modules share a line: `(0-2): 3 x Linear(...)`."""
        module_reprs = [repr(module) for module in self]
        if not module_reprs:
            return f"{self._get_name()}()"
        runs: list[list[int]] = []
        for i, module_repr in enumerate(module_reprs):
            if i and module_repr == module_reprs[i - 1]:
                runs[-1][1] = i
            else:
                runs.append([i, i])
        lines = []
        for first, last in runs:
            module_repr = module_reprs[first].replace("\n", "\n  ")
            lines.append(
                f"({first}): {module_repr}"
                if first == last
                else f"({first}-{last}): {last - first + 1} x {module_repr}"
            )
        return "\n  ".join([f"{self._get_name()}(", *lines]) + "\n)"


class ModuleDict(Module):
    """Dictionary of modules in insertion order, registered as submodules."""

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
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove `key` and return its module."""
        return self._modules.pop(key)  # type: ignore[no-any-return]

    def keys(self) -> Any:
        """Return the keys."""
        return self._modules.keys()

    def items(self) -> Any:
        """Return (key, module) pairs."""
        return self._modules.items()

    def values(self) -> Any:
        """Return the modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add or replace modules, from a mapping or from (key, module) pairs."""
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
            entry = list(pair)
            if len(entry) != 2:
                raise ValueError(
                    f"ModuleDict update sequence element #{i} has length {len(entry)}; 2 is required"
                )
            self[entry[0]] = entry[1]


# ---- containers of parameters ------------------------------------------------------------------------


def _as_parameter(value: Any) -> Any:
    """Convert a tensor to a parameter. Other values are returned unchanged."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _describe_entry(name: str, value: Any, kind: str) -> str:
    """Return the line that `repr` shows for an entry of a container.

    If the entry is a tensor, the line contains `kind`, which is its dtype or its type name.
    """
    if not isinstance(value, Tensor):
        return f"({name}): Object of type: {type(value).__name__}"
    class_name = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(str(length) for length in value.shape)
    device_suffix = "" if value.is_cpu else f" ({value.device})"
    return f"({name}): {class_name} containing: [{kind} of size {size}{device_suffix}]"


class ParameterList(Module):
    """List of values, in which tensors are registered as parameters."""

    _ts_container = "parameter list"

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _name(self, index: int) -> str:
        position = operator.index(index)
        if not -self._size <= position < self._size:
            raise IndexError(f"index {position} is out of range")
        return str(position % self._size)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(*index.indices(self._size))])
        return getattr(self, self._name(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name(index), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(self._size)])

    def append(self, value: Any) -> Self:
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add values at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extra_repr(self) -> str:
        return "\n".join(
            _describe_entry(str(i), value, str(getattr(value, "dtype", ""))) for i, value in enumerate(self)
        )

    def __repr__(self) -> str:
        lines = [f"    {line}" for line in self.extra_repr().split("\n")] if len(self) else []
        return "\n".join([f"{self._get_name()}(", *lines]) + ("\n)" if lines else ")")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Dictionary of values in insertion order, in which tensors are registered as parameters."""

    _ts_container = "parameter dict"

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type_name(key)}'). Open an issue on github if you need non-string keys."
            )
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Iterable[str]:
        """Return the keys."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return (key, value) pairs."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """Return the values."""
        return (self[key] for key in self._keys)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, or `default`."""
        return getattr(self, key) if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`. If it is missing, insert and return `default`."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Remove `key` and return its value."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the last key and value."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """Remove all keys and values."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """Return a new ParameterDict with the same values."""
        return ParameterDict(dict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a new ParameterDict with `default` for every key."""
        return ParameterDict((key, default) for key in keys)

    def update(self, parameters: Any) -> None:
        """Add or replace values, from a mapping or from (key, value) pairs."""
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(parameters).__name__}"
            )
        items = parameters.items() if isinstance(parameters, Mapping | ParameterDict) else parameters
        for key, value in items:
            self[key] = value

    def __or__(self, other: ParameterDict) -> ParameterDict:
        return ParameterDict({**dict(self.items()), **dict(other.items())})

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return "\n".join(
            f"  {_describe_entry(key, value, type_name(value.detach()))}" for key, value in self.items()
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")
