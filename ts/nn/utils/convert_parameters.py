"""Conversion between a parameter list and a single vector.

Example:

    vector = parameters_to_vector(net.parameters())         # a vector of all elements of all parameters
    vector_to_parameters(vector, net.parameters())          # sets the parameters to sections of the vector
"""

from __future__ import annotations

from collections.abc import Iterable

import ts
from ts._core.tensor.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenate the elements of all parameters into a tensor (n,)."""
    parameter_list = list(parameters)
    _check_devices(parameter_list)
    vector: Tensor = ts.cat([parameter.reshape(-1) for parameter in parameter_list])
    return vector


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set the data of each parameter to a slice of the vector `vec`, in order and without a copy.

    Raise TypeError if `vec` is not a tensor or the parameters are on different devices.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: torch.{type(vec).__name__}")
    parameter_list = list(parameters)
    _check_devices(parameter_list)
    start = 0
    for parameter in parameter_list:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end


def _check_devices(parameters: list[Tensor]) -> None:
    if len({str(parameter.device) for parameter in parameters}) > 1:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
