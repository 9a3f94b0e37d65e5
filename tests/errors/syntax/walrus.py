"""An assignment inside an expression."""


def main(x: int):
    if (y := x) > 1:
        return y
    return x

# error: UnsupportedNodeError
# NamedExpr aren't supported; assign in a separate statement:
#   File "walrus.py", line 5
# def main(x: int):
#     if (y := x) > 1:
#         ~ <--- HERE
#         return y
#     return x
