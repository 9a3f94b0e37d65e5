"""A unary plus."""


def main(x: int):
    return +x


# torch: 'UnaryOp' object has no attribute 'range'

# error: NotSupportedError
# unsupported unary operator: UAdd:
#   File "unary_plus.py", line 5
# def main(x: int):
#     return +x
#            ~ <--- HERE
# Hint: remove the `+`
