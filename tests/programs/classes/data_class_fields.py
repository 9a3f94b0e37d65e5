"""Data classes: Optional, container and union fields; comparison, `hash`, frozen classes."""
# rule: class.dataclass

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Dict, List, Optional, Tuple, Union

import ts as torch


@torch.jit.script
@dataclass
class Options:
    size: int
    limit: Optional[int] = None
    names: Optional[List[str]] = None


@torch.jit.script
@dataclass(order=True)
class Version:
    major: int
    minor: Optional[int] = 0


@torch.jit.script
@dataclass
class Mixed:
    u: Union[int, str] = 1
    t: Tuple[int, str] = (1, "a")
    d: Optional[Dict[str, int]] = None
    x: Optional[torch.Tensor] = None
    kind: ClassVar[int] = 3


@torch.jit.script
@dataclass(frozen=True)
class Key:
    name: str
    number: int = dataclasses.field(default=2, kw_only=True)


@torch.jit.script
@dataclass
class Area:
    width: int
    height: int = 3
    area: int = dataclasses.field(init=False, default=0)

    def __post_init__(self):
        self.area = self.width * self.height


@torch.jit.script
def options():
    a = Options(1)
    a.names = ["n"]
    limit = Options(1, 7).limit
    print(a.limit is None, a.names is None, limit)
    print(Options(1) == Options(1), Options(1) == Options(1, 2), Options(1, 2) == Options(1, 2))
    print(Options(1) != Options(1), Options(1, 2, ["a"]) == Options(1, 2, ["a"]))


@torch.jit.script
def order(versions: List[Version]):
    print(Version(1) < Version(1, 2), Version(2) <= Version(1, 5), Version(1, 1) >= Version(1))
    versions.sort()
    print([v.major for v in versions])


@torch.jit.script
def mixed():
    m = Mixed("x")
    u = m.u
    assert isinstance(u, str)
    print(u, m.t[1], m.d is None, m.x is None)


@torch.jit.script
def others(key: Key):
    same = Key("a", number=2)
    print(key == same, hash(key) == hash(same), key.number)
    print(Area(2).area, Area(2, 5).area)


options()
# expect: True False 7
# expect: True False True
# expect: False True
order([Version(3), Version(1)])
# expect: True False True
# expect: [1, 3]
mixed()
# expect: x a True True
others(Key("a"))
# expect: True True 2
# expect: 6 10
print(Options(1) == Options(1))  # expect: True
# not in PyTorch: it rejects the comparison of unions and tuples, frozen classes, class variables
