"""An attribute of a tuple subclass has the stored elements, also if the class overrides methods."""
# rule: module.instance

import ts as torch


class Closed(tuple):
    def __len__(self):
        raise NotImplementedError


class Holds(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.held = Closed((1, 2))

    def forward(self, n: int) -> int:
        return self.held[1] + n


print(torch.jit.script(Holds())(3))  # expect: 5
