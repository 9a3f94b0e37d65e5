"""None as the default of an int parameter."""

from ts import Tensor


def main(x: Tensor, scale: int = None):
    if scale is not None:
        x = x * scale
    return x

# error: FrontendError
# Expected a default value of type int on parameter "scale".:
#   File "default_none.py", line 6
# def main(x: Tensor, scale: int = None):
#                                  ~~~~ <--- HERE
#     if scale is not None:
#         x = x * scale
# Hint: annotate a value that may be None: `scale: Optional[int] = None`
