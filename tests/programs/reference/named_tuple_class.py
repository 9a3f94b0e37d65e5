"""A NamedTuple class; a scripted function reads the fields of an argument."""
# rule: namedtuple.class

from typing import NamedTuple, Tuple

import ts as torch


class MyTuple(NamedTuple):
    first: int
    second: int


def inc(x: MyTuple) -> Tuple[int, int]:
    return (x.first + 1, x.second + 1)


t = MyTuple(first=1, second=2)
scripted_inc = torch.jit.script(inc)
print("TorchScript:", scripted_inc(t))  # expect: TorchScript: (2, 3)
