"""An Optional is refined by comparisons with None."""
# rule: optional.refined

import ts as torch


@torch.jit.script
def optional_unwrap(x, y, z):
    # type: (Optional[int], Optional[int], Optional[int]) -> int
    if x is None:
        x = 1
    x = x + 1

    if y is not None and z is not None:
        x = y + z
    return x


print(optional_unwrap(None, None, 3), optional_unwrap(4, None, None), optional_unwrap(1, 2, 3))  # expect: 2 5 5
