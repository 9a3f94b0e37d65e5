"""A module class as the annotation of an attribute: the type is inferred from the instance."""
# rule: module.annotated
# not in PyTorch, which rejects the annotation; its language reference has this example

import ts as torch


class TestSubModule(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.v = torch.ones((2, 3))

    def forward(self):
        return self.v


class TestModule(torch.nn.Module):
    sub: TestSubModule

    def __init__(self):
        super().__init__()
        self.sub = TestSubModule()

    def forward(self):
        return self.sub()


scripted_m = torch.jit.script(TestModule())
print(scripted_m().tolist())  # expect: [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
