"""A Final condition selects the compiled branch at compile time."""
# rule: if.final, annotation.final

import ts as torch


class Model(torch.nn.Module):
    a: torch.jit.Final[bool]

    def __init__(self, a: bool):
        super().__init__()
        self.a = a

    def forward(self):
        if self.a:
            return torch.ones(2, 3)
        else:
            return []


print(torch.jit.script(Model(True))().shape)  # expect: torch.Size([2, 3])
print(torch.jit.script(Model(False))())  # expect: []
