"""The functional form of NamedTuple, and `collections.namedtuple`."""
# rule: namedtuple.functional, namedtuple.collections

from collections import namedtuple
from typing import NamedTuple, Tuple

import ts as torch


class _AnnotatedNamedTuple(NamedTuple):
    first: int
    second: int
_UnannotatedNamedTuple = namedtuple("_NamedTupleAnnotated", ["first", "second"])


def inc(x: _AnnotatedNamedTuple) -> Tuple[int, int]:
    return (x.first + 1, x.second + 1)


m = torch.jit.script(inc)
print(inc(_UnannotatedNamedTuple(1, 2)))  # expect: (2, 3)
print(m(_UnannotatedNamedTuple(1, 2)))  # expect: (2, 3)
