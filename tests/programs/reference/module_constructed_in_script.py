"""A module is constructed outside of scripts; a script cannot call its class."""
# rule: module.constructor

import ts as torch


class TestModule(torch.nn.Module):
    def __init__(self, v):
        super().__init__()
        self.x = v

    def forward(self, x: int):
        return self.x + x


class MyModel(torch.nn.Module):
    def __init__(self, v: int):
        super().__init__()
        self.val = v

    @torch.jit.export
    def doSomething(self, val: int) -> int:
        myModel = TestModule(self.val)  # expect error: Could not get name of python class object
        return myModel(val)


m = torch.jit.script(MyModel(2))
