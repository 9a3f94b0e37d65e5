"""A lambda expression."""


def main(x: int):
    f = lambda y: y + 1
    return f(x)

# error: UnsupportedNodeError
# Lambda aren't supported; define a function outside and call it by name:
#   File "lambda_expression.py", line 5
# def main(x: int):
#     f = lambda y: y + 1
#         ~ <--- HERE
#     return f(x)
