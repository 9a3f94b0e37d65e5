"""`getattr` and `hasattr` with literal names; a branch for a missing attribute is not compiled."""
# rule: getattr, hasattr, builtin.getattr, builtin.hasattr

import ts as torch


class M(torch.nn.Module):
    def __init__(self, with_scale: bool):
        super().__init__()
        self.offset = 1
        if with_scale:
            self.scale = 3

    def forward(self, x: int) -> int:
        if hasattr(self, "scale"):
            x = x * self.scale
        return x + getattr(self, "offset")


print(torch.jit.script(M(True))(2), torch.jit.script(M(False))(2))  # expect: 7 3
