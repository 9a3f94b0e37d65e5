"""`move_to_device_pass`: move an exported program to another device (device placement).

The pass also moves the parameters, buffers, constants and example arguments. For example,
`move_to_device_pass(program, "meta")` changes `zeros([2], device=cpu)` to `zeros([2], device=meta)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts import devices
from ts._core.tensor.tensor import Tensor
from ts.export.fake import device_of, fake_for, is_fake
from ts.export.program import ExportedProgram
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.nn.parameter import Parameter
from ts.utils import _pytree as pytree


def move_to_device_pass(
    ep: ExportedProgram, location: devices.device | str | dict[str, str]
) -> ExportedProgram:
    """Move the state, constants, examples and graph of `ep` to a device. Return the modified `ep`.

    location    the new device, or a dict from old to new devices
    """
    if isinstance(location, dict):
        table = {str(k): devices.as_device(v) for k, v in location.items()}

        def target(device: devices.device) -> devices.device:
            return table.get(str(device), table.get(device.type, device))
    else:
        everywhere = devices.as_device(location)

        def target(device: devices.device) -> devices.device:
            return everywhere

    def move(x: Any) -> Any:
        return _move_tensor(x, target(x.device)) if isinstance(x, Tensor) else x

    for tensors in (ep.state_dict, ep.constants):
        tensors.update({name: move(x) for name, x in tensors.items()})
    if ep.example_inputs is not None:
        ep._example_inputs = pytree.tree_map(move, ep.example_inputs)
    for module in ep.graph_module.modules():
        if isinstance(module, GraphModule):
            _move_graph(module.graph, target)
            module.recompile()
    return ep


def _move_tensor(x: Tensor, device: devices.device) -> Tensor:
    if x.device == device:
        return x
    moved_tensor = x.detach().to(device)  # type: ignore[attr-defined]
    return (
        Parameter(moved_tensor, x.requires_grad)
        if isinstance(x, Parameter)
        else moved_tensor.requires_grad_(x.requires_grad)
    )


def _move_graph(graph: Graph, target: Callable[[devices.device], devices.device]) -> None:
    """Replace devices in the arguments of nodes and in their recorded results (`meta["val"]`)."""

    def device(x: Any) -> Any:
        return target(x) if isinstance(x, devices.device) else x

    def value(x: Any) -> Any:
        if not is_fake(x):
            return x
        return fake_for(x.array, target(device_of(x)), x.requires_grad)

    for node in graph.nodes:
        node.args = tuple(device(x) for x in node.args)
        node.kwargs = {name: device(x) for name, x in node.kwargs.items()}
        if "val" in node.meta:
            node.meta["val"] = pytree.tree_map(value, node.meta["val"])
