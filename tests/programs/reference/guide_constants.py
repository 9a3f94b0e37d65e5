"""Constants of a module's class."""
# rule: resolve.constants

import ts as torch


class Foo(torch.jit.ScriptModule):
    __constants__ = ["a"]

    def __init__(self):
        super(Foo, self).__init__()
        self.a = 1 + 4

    @torch.jit.script_method
    def forward(self, input):
        return self.a + input


print(Foo()(torch.zeros(2)))  # expect: tensor([5., 5.])
