"""A loop over a tuple is unrolled: its elements may be of different types."""
# rule: for.tuple

import ts as torch


@torch.jit.script
def fn():
    tup = (3, torch.ones(4))
    for x in tup:
        print(x)


# expect: 3
# expect:  1
# expect:  1
# expect:  1
# expect:  1
# expect: [ CPUFloatType{4} ]
fn()
