"""An annotated attribute of a module."""
# rule: module.annotation

import ts as torch


class MyModule(torch.nn.Module):
    offset_: int

    def __init__(self, offset):
        super().__init__()
        self.offset_ = offset

    def forward(self, x: int) -> int:
        return x + self.offset_


print(torch.jit.script(MyModule(5))(2))  # expect: 7
