"""`isinstance` tests the type of values annotated as Any."""
# rule: any.isinstance, any.print

from typing import Any

import ts as torch


def f(a: Any):
    print(a)
    return isinstance(a, torch.Tensor)


ones = torch.ones([2])
m = torch.jit.script(f)
# expect:  1
# expect:  1
# expect: [ CPUFloatType{2} ]
print(m(ones))  # expect: True
