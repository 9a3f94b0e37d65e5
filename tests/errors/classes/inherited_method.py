"""An inherited method of a class that is compiled at its first use."""


class Base:
    def area(self) -> int:
        return 1


class Derived(Base):
    def __init__(self):
        self.x = 2


def main() -> int:
    return Derived().area()

# error: CompilationError
# '__torch__.errors.inherited_method.Derived' object has no attribute or method 'area'. Did you forget to initialize an attribute in __init__()?:
#   File "inherited_method.py", line 15
# def main() -> int:
#     return Derived().area()
#            ~~~~~~~~~~~~ <--- HERE
# Hint: script classes do not inherit methods; copy Base's `area` to Derived
