"""Exported methods and the methods that they call are compiled."""
# rule: module.export, export, builtin.super

import ts as torch


class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 3

    def helper(self, x: int) -> int:
        return x * self.k

    def python_only(self, x):
        return {x for x in range(x)}

    def forward(self, x: int) -> int:
        return x

    @torch.jit.export
    def more(self, x: int) -> int:
        return self.helper(x) + 1


m = torch.jit.script(M())
print(m(2), m.more(2), hasattr(m, "helper"))  # expect: 2 7 True
