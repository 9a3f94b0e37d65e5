"""The type of a module is inferred from the instance."""
# rule: module.instance

import ts as torch


class TestModule(torch.nn.Module):
    def __init__(self, v):
        super().__init__()
        self.x = v

    def forward(self, inc: int):
        return self.x + inc


m = torch.jit.script(TestModule(1))
print(f"First instance: {m(3)}")  # expect: First instance: 4

m = torch.jit.script(TestModule(torch.ones([5])))
print(f"Second instance: {m(3)}")  # expect: Second instance: tensor([4., 4., 4., 4., 4.])
