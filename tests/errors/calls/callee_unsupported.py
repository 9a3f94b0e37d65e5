"""A called function uses an unsupported statement or expression."""


def helper(a: int) -> int:
    try:
        return a
    finally:
        pass


def main(x: int):
    return helper(x)

# error: UnsupportedNodeError
# try blocks aren't supported; test with `if` before the operation that may fail:
#   File "callee_unsupported.py", line 5
# def helper(a: int) -> int:
#     try:
#     ~~~ <--- HERE
#         return a
#     finally:
# 'helper' is being compiled since it was called from 'main'
#   File "callee_unsupported.py", line 12
# def main(x: int):
#     return helper(x)
#            ~~~~~~~~ <--- HERE
