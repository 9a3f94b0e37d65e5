"""A module interface: submodules that can be replaced."""
# rule: module.interface

import ts as torch


@torch.jit.interface
class Layer(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Plus(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


class Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class M(torch.nn.Module):
    layer: Layer

    def __init__(self):
        super().__init__()
        self.layer = Plus()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer.forward(x)


m = torch.jit.script(M())
print(m(torch.ones(1)))  # expect: tensor([2.])
m.layer = torch.jit.script(Twice())
print(m(torch.ones(1) * 5))  # expect: tensor([10.])
