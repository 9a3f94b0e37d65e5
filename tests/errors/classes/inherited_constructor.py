"""A class that inherits its constructor."""


class Base:
    def __init__(self):
        self.x = 2


class Derived(Base):
    def get(self) -> int:
        return 1


def main() -> int:
    return Derived().get()

# error: CompilationError
# Class Derived does not have an __init__ function defined:
#   File "inherited_constructor.py", line 15
# def main() -> int:
#     return Derived().get()
#            ~~~~~~~ <--- HERE
# Hint: script classes do not inherit methods; copy Base's `__init__` to Derived
