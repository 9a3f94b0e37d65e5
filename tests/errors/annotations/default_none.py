"""None as the default of a tensor."""

from ts import Tensor


def main(x: Tensor, mask: Tensor = None):
    if mask is not None:
        x = x * mask
    return x

# torch: main() is missing value for argument 'x'. Declaration: main(Tensor x, Tensor mask=[ Tensor (undefined) ]) -> Tensor

# error: FrontendError
# Expected a default value of type Tensor on parameter "mask".:
#   File "default_none.py", line 6
# def main(x: Tensor, mask: Tensor = None):
#                                    ~~~~ <--- HERE
#     if mask is not None:
#         x = x * mask
# Hint: annotate what may be None: `mask: Optional[Tensor] = None`
