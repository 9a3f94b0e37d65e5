"""`torch.jit.isinstance` is resolved by object identity, `all` by its name."""
# rule: resolve.identity, resolve.name, jit_isinstance

from typing import Any, List

import ts as torch


@torch.jit.script
def fn(x: Any):
    if torch.jit.isinstance(x, List[bool]):
        return all(x)
    return False


print(fn([True, True]), fn([True, False]), fn(3))  # expect: True False False
