"""Model replication, which copies a module to several GPUs: `replicate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.cuda import comm
from ts.cuda._utils import gpu_index
from ts.nn.modules.module import Module
from ts.nn.parallel._functions import Broadcast

__all__ = ["replicate"]


def _broadcast_coalesced_reshape(
    tensors: Sequence[Tensor], devices: Sequence[Any], detach: bool = False
) -> Any:
    if detach:
        return comm.broadcast_coalesced(tensors, devices)
    if not tensors:
        return []
    copies, n = Broadcast.apply(devices, *tensors), len(tensors)
    return [copies[i : i + n] for i in range(0, len(copies), n)]


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """Return a copy of a module for each GPU.

    Unless `detach` is True, gradients of a copy flow to the parameters of the original module.
    """
    indices = [gpu_index(device) for device in devices]
    if not indices:
        return []
    parameters, buffers = list(network.parameters()), list(network.buffers())
    copied = _broadcast_coalesced_reshape(parameters, indices, detach) if parameters else []
    copied_buffers = _broadcast_coalesced_reshape(buffers, indices, True) if buffers else []
    replicas = []
    for i in range(len(indices)):
        tensor_by_id = {
            id(old): new for old, new in zip(parameters, copied[i] if copied else (), strict=True)
        }
        tensor_by_id |= {
            id(old): new for old, new in zip(buffers, copied_buffers[i] if buffers else (), strict=True)
        }
        replicas.append(_replica(network, tensor_by_id, {}))
    return replicas


def _replica(module: Module, tensors: dict[int, Tensor], copies: dict[int, Module]) -> Module:
    """Return a copy of a module tree with new parameters and buffers.

    `tensors` maps the id of each old tensor to its new tensor. `copies` maps ids of modules to their copies.
    """
    if id(module) in copies:
        return copies[id(module)]
    copy: Any = _shallow_copy(module)
    copies[id(module)] = copy
    copy._former_parameters = {}
    for name, child in module._modules.items():
        new = None if child is None else _replica(child, tensors, copies)
        copy._modules[name] = new
    for name, parameter in module._parameters.items():
        if parameter is None:
            copy._parameters[name] = None
        else:
            setattr(copy, name, tensors[id(parameter)])
            copy._former_parameters[name] = tensors[id(parameter)]
    for name, buffer in module._buffers.items():
        copy._buffers[name] = None if buffer is None else tensors[id(buffer)]
    return copy  # type: ignore[no-any-return]


def _shallow_copy(module: Module) -> Module:
    """Return a module with the same class, attributes, buffers and submodules, but without parameters.

    The new module has its own dictionaries of buffers and submodules.
    """
    if hasattr(module, "_replicate_for_data_parallel"):
        return module._replicate_for_data_parallel()  # type: ignore[no-any-return]
    copy = module.__new__(type(module))
    vars(copy).update(vars(module))
    copy._parameters = {}
    copy._buffers = module._buffers.copy()
    copy._modules = module._modules.copy()
    return copy
