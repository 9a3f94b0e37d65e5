"""An ignored method runs in Python."""
# rule: ignore

import ts as torch


class M(torch.nn.Module):
    def __init__(self):
        super(M, self).__init__()

    def forward(self, x):
        self.ignored_code(x)
        return x + 2

    @torch.jit.ignore
    def ignored_code(self, x):
        print("in Python:", type(x).__name__)


m = torch.jit.script(M())
print(m(torch.ones(2)))
# expect: in Python: Tensor
# expect: tensor([3., 3.])
