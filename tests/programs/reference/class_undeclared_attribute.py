"""An object has no attribute that `__init__` does not assign."""
# rule: class.attributes

import ts as torch


@torch.jit.script
class foo:
    def __init__(self):
        self.y = 1

    def assign_x(self):
        self.x = torch.rand(2, 3)  # expect error: Tried to set nonexistent attribute: x. Did you forget to initialize it in __init__()?
