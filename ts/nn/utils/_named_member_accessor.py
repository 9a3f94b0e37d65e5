"""Access to submodules, parameters and buffers of a module by their qualified names.

Example:

    accessor = NamedMemberAccessor(net)
    old = accessor.swap_tensor("layer.weight", tensor)      # sets the tensor, and returns the previous one
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ts._core.tensor.tensor import Tensor
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = ["NamedMemberAccessor", "set_tensor", "swap_submodule", "swap_tensor"]
__getattr__ = names_for(__name__)
_MISSING: Final = object()  # stands for a missing tensor


def _check_module(module: Any, description: str = "") -> None:
    if not isinstance(module, Module):
        raise TypeError(f"{description}{module} is not an instance of torch.nn.Module")


def _check_tensor(tensor: Any, description: str = "") -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{description}{tensor} is not an instance of torch.Tensor")


def _check_name(name: str, kind: str) -> None:
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')


def _find(module: Module, name: str) -> Any:
    """Return an attribute of a module. Raise AttributeError if it is missing."""
    try:
        return getattr(module, name)
    except AttributeError as error:
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`") from error


def _set_member(module: Module, name: str, tensor: Any) -> None:
    """Replace the parameter or buffer `name` of `module`, or set the attribute if there is neither."""
    if name in module._parameters:
        module._parameters[name] = tensor
    elif name in module._buffers:
        module._buffers[name] = tensor
    else:
        setattr(module, name, tensor)


def _remove(module: Module, name: str) -> None:
    for table in (module._parameters, module._buffers):
        if name in table:
            del table[name]
            return
    delattr(module, name)


def set_tensor(module: Module, name: str, tensor: Tensor) -> None:
    """Set the parameter, buffer or attribute `name` of `module` to `tensor`, which may be None.

    `name` cannot be a dotted name.
    """
    _check_module(module)
    if tensor is not None:
        _check_tensor(tensor)
    _check_name(name, "tensor")
    _set_member(module, name, tensor)


def swap_tensor(module: Module, name: str, tensor: Tensor, allow_missing: bool = False) -> Tensor:
    """Replace the tensor `name` of `module` itself, not of a submodule, and return the previous tensor.

    If `tensor` is `_MISSING`, remove the attribute. If the module has no attribute `name`, return `_MISSING`
    with `allow_missing`, otherwise raise AttributeError. A second call with the returned value restores the
    module.
    """
    _check_module(module)
    if tensor is not _MISSING and tensor is not None:
        _check_tensor(tensor)
    _check_name(name, "tensor")
    before: Any = module._parameters.get(name, module._buffers.get(name, _MISSING))
    if before is _MISSING:
        if hasattr(module, name):
            before = getattr(module, name)
            if before is not None:
                _check_tensor(before, f"attribute `{name}`: ")
        elif not allow_missing:
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    if tensor is not _MISSING:
        _set_member(module, name, tensor)
    elif before is not _MISSING:
        _remove(module, name)
    return before  # type: ignore[no-any-return]


def swap_submodule(module: Module, name: str, submodule: Module) -> Module:
    """Replace a direct submodule of `module`, and return the previous submodule."""
    _check_module(module)
    _check_module(submodule)
    _check_name(name, "submodule")
    if name not in module._modules:
        raise KeyError(f"submodule {name} does not exist")
    before = module._modules[name]
    _check_module(before, f"{name} attribute: ")
    module._modules[name] = submodule
    return before  # type: ignore[no-any-return]


class NamedMemberAccessor:
    """Access to tensors and submodules by dotted name. Each submodule is looked up once."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.memo: dict[str, Module] = {"": module}

    def get_submodule(self, name: str) -> Module:
        """Return the submodule with the dotted name `name`."""
        submodule = self.memo.get(name)
        if submodule is None:
            path, _, last = name.rpartition(".")
            submodule = _find(self.get_submodule(path), last)
            _check_module(submodule, f"submodule `{name}`: ")
            self.memo[name] = submodule
        return submodule

    def _owner(self, name: str) -> tuple[Module, str]:
        path, _, last = name.rpartition(".")
        return self.get_submodule(path), last

    def swap_submodule(self, path: str, value: Module) -> Module:
        """Replace the submodule with the dotted name `path`, and return the previous one."""
        owner, name = self._owner(path)
        before = swap_submodule(owner, name, value)
        self.memo = {"": self.module}
        return before

    def get_tensor(self, name: str) -> Tensor:
        """Return the parameter, buffer or other tensor with the dotted name `name`."""
        owner, last = self._owner(name)
        try:
            tensor: Any = getattr(owner, last)
        except AttributeError as error:
            raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`") from error
        if tensor is not None:
            _check_tensor(tensor)
        return tensor  # type: ignore[no-any-return]

    def set_tensor(self, name: str, value: Tensor) -> None:
        """Replace the tensor with the dotted name `name`."""
        set_tensor(*self._owner(name), value)

    def del_tensor(self, name: str) -> None:
        """Remove the tensor with the dotted name `name`."""
        owner, last = self._owner(name)
        try:
            _remove(owner, last)
        except AttributeError as error:
            raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`") from error

    def swap_tensor(self, name: str, value: Tensor, allow_missing: bool = False) -> Tensor:
        """Replace the tensor with the dotted name `name`, and return the previous one."""
        return swap_tensor(*self._owner(name), value, allow_missing=allow_missing)

    def get_tensors(self, names: Iterable[str]) -> list[Tensor]:
        """Return the tensors with the dotted names `names`."""
        return [self.get_tensor(name) for name in names]

    def set_tensors(self, names: Iterable[str], values: Iterable[Tensor]) -> None:
        """Set tensors by name. Raise AssertionError if the numbers of names and values differ."""
        for name, value in zip(*_same_length(names, values), strict=True):
            self.set_tensor(name, value)

    def set_tensors_dict(self, named_tensors: dict[str, Tensor]) -> None:
        """Set the tensors in a dictionary from dotted name to tensor."""
        for name, value in named_tensors.items():
            self.set_tensor(name, value)

    def del_tensors(self, names: Iterable[str]) -> None:
        """Remove the tensors with the dotted names `names`."""
        for name in names:
            self.del_tensor(name)

    def swap_tensors(
        self, names: Iterable[str], values: Iterable[Tensor], allow_missing: bool = False
    ) -> list[Tensor]:
        """Replace the tensors with the dotted names `names`, and return the previous tensors."""
        pairs = zip(*_same_length(names, values), strict=True)
        return [self.swap_tensor(name, value, allow_missing=allow_missing) for name, value in pairs]

    def swap_tensors_dict(
        self, named_tensors: dict[str, Tensor], allow_missing: bool = False
    ) -> tuple[dict[str, Tensor], list[str]]:
        """Replace tensors by dotted name. Return the previous tensors, and the names that did not exist.

        If a name did not exist and `allow_missing` is False, restore all tensors and raise RuntimeError.
        """
        before: dict[str, Tensor] = {}
        missing = []
        try:
            for name, tensor in named_tensors.items():
                before[name] = self.swap_tensor(name, tensor, allow_missing=True)
                if before[name] is _MISSING:
                    missing.append(name)
            if missing and not allow_missing:
                raise RuntimeError(f"Missing key(s): {', '.join(map(repr, missing))}.")
        except Exception:
            for name, tensor in before.items():
                self.swap_tensor(name, tensor, allow_missing=True)
            raise
        return before, missing

    def check_keys(self, keys: Iterable[str]) -> tuple[list[str], list[str]]:
        """Compare `keys` with the names of the module's tensors.

        Return the names that are not in `keys`, and the keys that are not names of tensors.
        """
        key_set = set(keys)
        names = {name for name, _ in self.named_tensors(remove_duplicate=False)}
        return sorted(names - key_set), sorted(key_set - names)

    def named_parameters(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """Yield (name, parameter) pairs."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """Yield (name, buffer) pairs."""
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """Yield (name, tensor) pairs of the parameters and buffers."""
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Module]]:
        """Yield (name, submodule) pairs."""
        yield from self.module.named_modules(remove_duplicate=remove_duplicate)


def _same_length(names: Iterable[str], values: Iterable[Tensor]) -> tuple[list[str], list[Tensor]]:
    names, values = list(names), list(values)
    if len(names) != len(values):
        raise AssertionError(
            f"names and values must have the same length, got {len(names)} names and {len(values)} values"
        )
    return names, values
