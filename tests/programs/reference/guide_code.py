"""The printed source (`.code`) of a function."""
# rule: code

import ts as torch


@torch.jit.script
def foo(len):
    # type: (int) -> torch.Tensor
    rv = torch.zeros(3, 4)
    for i in range(len):
        if i < 10:
            rv = rv - 1.0
        else:
            rv = rv + 1.0
    return rv


print(foo.code)
# expect: def foo(len: int) -> Tensor:
# expect:   rv = torch.zeros([3, 4])
# expect:   rv0 = rv
# expect:   for i in range(len):
# expect:     if torch.lt(i, 10):
# expect:       rv1 = torch.sub(rv0, 1.)
# expect:     else:
# expect:       rv1 = torch.add(rv0, 1.)
# expect:     rv0 = rv1
# expect:   return rv0
# expect:
print(foo(2)[0].tolist())  # expect: [-2.0, -2.0, -2.0, -2.0]
