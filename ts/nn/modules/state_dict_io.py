"""Collection and loading of state dicts.

`collect` returns the state dict of a module. `load` copies the tensors of a state dict into a module. Strict
loading raises an error for missing and unexpected keys.

Example:

    collect(net, None, "", False)          # {"linear.weight": ..., "linear.bias": ...}
    load(net, saved, True, False)          # <All keys matched successfully>
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import GradMode
from ts.nn.parameter import Parameter, is_uninitialized

_EXTRA: Final = "_extra_state"


class _IncompatibleKeyLists(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class IncompatibleKeys(_IncompatibleKeyLists):
    """Result of `load_state_dict`: missing and unexpected names."""

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


def collect(module: Any, destination: Any, prefix: str, keep_vars: bool) -> Any:
    """Add the tensors of `module` and its descendants to `destination`, and return `destination`."""
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()  # type: ignore[attr-defined]  # module name -> version
    metadata = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = metadata
    for hook in module._state_dict_pre_hooks.values():
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in module._state_dict_hooks.values():
        changed = hook(module, destination, prefix, metadata)
        if changed is not None:
            destination = changed
    return destination


def save_own(module: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Add the tensors of `module` itself to `destination`."""
    for name, tensor in _persistent(module).items():
        destination[prefix + name] = tensor if keep_vars else tensor.detach()
    if _has_extra(module):
        destination[prefix + _EXTRA] = module.get_extra_state()


def _persistent(module: Any) -> dict[str, Tensor]:
    buffers = {n: t for n, t in module._buffers.items() if n not in module._non_persistent_buffers_set}
    return {name: tensor for name, tensor in {**module._parameters, **buffers}.items() if tensor is not None}


def no_extra_state(module: Any) -> Any:
    """Raise RuntimeError. This is the default of `get_extra_state`, which is called only if overridden.

    Classes with state other than tensors override it.
    """
    raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")


def _has_extra(module: Any) -> bool:
    return getattr(type(module), "get_extra_state", None) is not no_extra_state


def load(module: Any, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """Copy the tensors of `state_dict` into `module` and its descendants."""
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing: list[str] = []
    unexpected: list[str] = []
    errors: list[str] = []
    working = OrderedDict(state_dict)

    _visit(
        module,
        working,
        "",
        getattr(state_dict, "_metadata", None) or {},
        assign,
        (missing, unexpected, errors),
    )
    if strict:
        if unexpected:
            errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
        if missing:
            errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
    if errors:
        error_text = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{error_text}")
    return IncompatibleKeys(missing, unexpected)


def _visit(
    module: Any,
    state_dict: Any,
    prefix: str,
    metadata: Any,
    assign: bool,
    notes: tuple[list[str], list[str], list[str]],
) -> None:
    """Load tensors into a module and its descendants.

    `notes` are three lists, to which missing keys, unexpected keys and error texts are added.
    """
    missing, unexpected, errors = notes
    local = dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = True
    for hook in module._load_state_dict_pre_hooks.values():
        hook(state_dict, prefix, local, True, missing, unexpected, errors)
    module._load_from_state_dict(state_dict, prefix, local, True, missing, unexpected, errors)
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            inner = {key: value for key, value in state_dict.items() if key.startswith(below)}
            _visit(child, inner, below, metadata, assign, notes)
    for hook in module._load_state_dict_post_hooks.values():
        changed = hook(module, IncompatibleKeys(missing, unexpected))
        if changed is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return "
                "new values, if incompatible_keys need to be modified, it should be done inplace."
            )


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def load_own(
    module: Any,
    state_dict: Any,
    prefix: str,
    local_metadata: Mapping[str, Any],
    strict: bool,
    missing: list[str],
    unexpected: list[str],
    errors: list[str],
) -> None:
    """Copy tensors of `state_dict` into the parameters and buffers of `module` itself, not of descendants.

    Append missing keys, unexpected keys and error texts to the three lists.
    """
    own_tensors = _persistent(module)
    for name, tensor in own_tensors.items():
        key = prefix + name
        if key not in state_dict:
            if strict:
                missing.append(key)
            continue
        problem = _copy(module, name, tensor, state_dict[key], key, local_metadata)
        if problem:
            errors.append(problem)
    extra = prefix + _EXTRA
    if _has_extra(module):
        if extra in state_dict:
            module.set_extra_state(state_dict[extra])
        elif strict:
            missing.append(extra)
    elif extra in state_dict and strict:
        unexpected.append(extra)
    if strict:
        for key in state_dict:
            if key.startswith(prefix) and key != extra:
                first, _, rest = key[len(prefix) :].partition(".")
                if (rest and first not in module._modules) or (not rest and first not in own_tensors):
                    unexpected.append(key)


def _copy(
    module: Any, name: str, tensor: Tensor, loaded: Any, key: str, metadata: Mapping[str, Any]
) -> str | None:
    """Copy `loaded` into `tensor`, which is attribute `name` of `module`.

    If `metadata` requests assignment, set the attribute to `loaded` instead. Return an error text if `loaded`
    is not a tensor or has another shape, otherwise None.
    """
    if not isinstance(loaded, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
            f"checkpoint but received {type(loaded)}"
        )
    if is_uninitialized(tensor) and is_uninitialized(loaded):
        return None
    if (
        not is_uninitialized(tensor) and tensor.dim() == 0 and loaded.dim() == 1 and loaded.numel() == 1
    ):  # early versions of PyTorch saved 0-dimensional tensors with one dimension
        loaded = loaded[0]
    if loaded.shape != tensor.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {loaded.shape} from checkpoint, "
            f"the shape in current model is {tensor.shape}."
        )
    if metadata.get("assign_to_params_buffers"):
        if isinstance(tensor, Parameter) and not isinstance(loaded, Parameter):
            loaded = Parameter(loaded, tensor.requires_grad)
        setattr(module, name, loaded)
        return None
    with GradMode(False):
        tensor.copy_(loaded)
    return None
