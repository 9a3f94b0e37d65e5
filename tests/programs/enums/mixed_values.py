"""The values of an enum must have one type."""
# rule: enum.values

from enum import Enum

import ts as torch


class Mixed(Enum):
    A = 1
    B = "b"


@torch.jit.script
def fn(x: Mixed) -> bool:  # expect error: Could not unify type list
    return x == Mixed.A
