"""Interfaces of classes and modules in scripts."""

from typing import Any, List

import pytest

import ts
from ts import Tensor, nn


@ts.jit.interface
class Shape:
    def area(self, x: Tensor) -> Tensor:
        pass


@ts.jit.interface
class Layer(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


@ts.jit.script
class Square:
    def __init__(self):
        pass

    def area(self, x: Tensor) -> Tensor:
        return x * x


@ts.jit.script
class Circle:
    def __init__(self):
        pass

    def area(self, x: Tensor) -> Tensor:
        return x * 3


class WithDefault(nn.Module):
    def forward(self, x: Tensor, n: int = 3) -> Tensor:
        return x * n


class Doubling(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


class Holder(nn.Module):
    layer: Layer

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer.forward(x)


@ts.jit.interface
class Pair(nn.Module):
    def first(self, x: Tensor) -> Tensor:
        pass


class PairHolder(nn.Module):
    layer: Pair

    def __init__(self):
        super().__init__()
        self.layer = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.layer.first(x)


def makes_one():
    return Shape()


def test_interface_stays_valid_after_failed_calls():
    """A failed call or scripting of an interface leaves the interface usable in annotations."""

    def area(x):
        shape: Shape = Square()
        return shape.area(x)

    for _ in range(2):
        with pytest.raises(RuntimeError, match="does not return along all paths"):
            ts.jit.script(makes_one)
        with pytest.raises(RuntimeError, match="does not return along all paths"):
            ts.jit.script(Shape)
    assert ts.jit.script(area)(ts.full((1,), 2.0)).item() == 4


def test_isinstance_of_interface_values():
    """`isinstance` of a value with an interface type checks the class of the object."""

    def which(shapes: List[Shape], other: Any):
        return isinstance(shapes[0], Square), isinstance(shapes[1], Square), isinstance(other, Shape)

    assert ts.jit.script(which)([Square(), Circle()], Circle()) == (True, False, True)


def test_implementations_of_module_interfaces():
    """Implementations have no additional parameter, even with a default; the error names missing methods."""
    with pytest.raises(RuntimeError, match="not compatible with interface"):
        ts.jit.script(Holder(WithDefault()))
    with pytest.raises(AttributeError, match="'ReLU' object has no attribute 'first'"):
        ts.jit.script(PairHolder())
    assert ts.jit.script(Holder(Doubling()))(ts.ones(1)).item() == 2
