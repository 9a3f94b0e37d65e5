"""A builtin class (a device) as an argument of a method."""
# rule: builtin_class

import ts as torch


@torch.jit.script
class A:
    def __init__(self):
        self.x = torch.rand(3)

    def f(self, y: torch.device):
        return self.x.to(device=y)


def g():
    a = A()
    return a.f(torch.device("cpu"))


script_g = torch.jit.script(g)
print(script_g().shape)  # expect: torch.Size([3])
print("aten::to" in str(script_g.inlined_graph))  # expect: True
