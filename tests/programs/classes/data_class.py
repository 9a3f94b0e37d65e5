"""Data classes: the generated constructor, comparisons and `repr`, and `__post_init__`."""
# not in PyTorch: there a data class must be decorated where its source can be read.

from dataclasses import InitVar, dataclass


@dataclass(order=True)
class Version:
    major: int
    minor: int = 0

    def next(self) -> "Version":
        return Version(self.major, self.minor + 1)


@dataclass
class Box:
    width: float
    height: float = 2.0
    factor: InitVar[float] = 10.0
    unit: str = "cm"
    area: float = 0.0

    def __post_init__(self, factor: float):
        self.area = self.width * self.height * factor


def main():
    v = Version(1, 2)
    w = Version(2)
    print(v.major, v.minor, w.minor, v.next().minor)  # expect: 1 2 0 3
    print(v == w, v == Version(1, 2), v < w, v >= w, w > v.next(), v <= v)  # expect: False True True False True True
    print(str(w.next()))  # expect: Version(major=2, minor=1)
    box = Box(3.5)
    print(box.unit, int(box.area), int(Box(1.0, factor=1.0, unit="m").area))  # expect: cm 70 2
