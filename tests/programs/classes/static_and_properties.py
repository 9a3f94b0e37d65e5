"""Static methods and properties."""
# rule: class.static, class.property, builtin.staticmethod

import ts as torch


@torch.jit.script
class Circle:
    def __init__(self, radius: float):
        self._radius = radius

    @staticmethod
    def area_of(r: float) -> float:
        return 3.0 * r * r

    @property
    def radius(self) -> float:
        return self._radius

    @radius.setter
    def radius(self, value: float):
        self._radius = value

    def area(self) -> float:
        return 3.0 * self.radius * self.radius


@torch.jit.script
def fn() -> float:
    c = Circle(1.0)
    c.radius = 2.0
    return c.area() + Circle.area_of(c.radius)


print(fn())  # expect: 24.0
