"""A value of type Any that the program stores and returns without a type test."""
# rule: any.bind

from typing import Any, Tuple

import ts as torch


@torch.jit.export
def inc_first_element(x: Tuple[int, Any]):
    return (x[0] + 1, x[1])


m = torch.jit.script(inc_first_element)
print(m((1, 2.0)))  # expect: (2, 2.0)
print(m((1, (100, 200))))  # expect: (2, (100, 200))
