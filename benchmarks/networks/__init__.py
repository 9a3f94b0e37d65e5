"""Networks of real size for `benchmarks.large_models`, with random weights; one file per family.

A family's file is written for PyTorch.  `tests.program_files.run_family` runs it with `ts` as `torch`.  Its
table has the networks, with their constructors and inputs:

    NETWORKS["ResNet-50"] = Network(lambda: ResNet(Bottleneck, (3, 4, 6, 3)), lambda: [image(1, 224)])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TOLERANCE = 1e-5  # of the largest difference, relative to the largest value of the result
FAMILIES = ("vision", "transformers", "sequences")


@dataclass(frozen=True)
class Network:
    """Constructor and inputs of a network."""

    make: Callable[[], Any]
    inputs: Callable[[], list[Any]]
    has_loop: bool = False  # compiled with `torch.jit.script`, and not exported to ONNX
    onnx_tolerance: float = TOLERANCE  # for results of the exported network


def build(torch: Any, network: Network) -> tuple[Any, tuple[Any, ...]]:
    """Return a network for inference and its inputs, from a fixed seed.

    The batch norms divide by the root mean square of the values that the inputs cause, with one factor for
    all channels.  With the initial statistics, the values would get smaller with each layer, and the results
    would depend on the last layers only.  Statistics for each channel would increase rounding errors, because
    channels with almost equal values would be scaled up.
    """
    torch.manual_seed(0)
    model, inputs = network.make(), tuple(network.inputs())
    norms = [module for module in model.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    if norms:
        for norm in norms:
            norm.momentum = 1.0  # the statistics of the next call replace the initial ones
        with torch.no_grad():
            model.train()(*inputs)
            for norm in norms:
                mean_square = (norm.running_var + norm.running_mean * norm.running_mean).mean()
                norm.running_mean.zero_()
                norm.running_var.fill_(mean_square.item())
    return model.eval(), inputs


def compiled(torch: Any, network: Network) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return a network, its scripted or traced copy, and its inputs."""
    model, inputs = build(torch, network)
    with torch.no_grad():
        if network.has_loop:
            return model, torch.jit.script(model), inputs
        return model, torch.jit.trace(model, inputs, check_trace=False), inputs
