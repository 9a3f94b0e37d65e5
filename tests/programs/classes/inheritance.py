"""Script classes do not support inheritance."""
# rule: class.inheritance

import ts as torch


class Base:
    def __init__(self):
        self.x = 1


class Derived(Base):
    def __init__(self):
        self.x = 2


try:
    torch.jit.script(Derived)
except RuntimeError as error:
    print("does not support inheritance" in str(error))  # expect: True
