"""A module of a ModuleDict lacks the methods of the interface that annotates the variable."""

import ts


@ts.jit.interface
class Head(ts.nn.Module):
    def forward(self, input: ts.Tensor) -> ts.Tensor:
        pass


class Scaled(ts.nn.Module):
    def forward(self, input: ts.Tensor, scale: int) -> ts.Tensor:
        return input * scale


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = ts.nn.ModuleDict({"relu": ts.nn.ReLU(), "scaled": Scaled()})

    def forward(self, x, name: str):
        head: Head = self.heads[name]
        return head.forward(x)


main = Net()

# error: CompilationError
# Attribute scaled is not of annotated type __torch__.errors.container_interface.Head: Method on class '__torch__.errors.container_interface.Scaled' (1) is not compatible with interface '__torch__.errors.container_interface.Head' (2)
#   (1) forward(__torch__.errors.container_interface.Scaled self, Tensor input, int scale) -> Tensor
#   (2) forward(InterfaceType<Head> self, Tensor input) -> Tensor
# :
#   File "container_interface.py", line 23
#     def forward(self, x, name: str):
#         head: Head = self.heads[name]
#                      ~~~~~~~~~~~~~~~~ <--- HERE
#         return head.forward(x)
