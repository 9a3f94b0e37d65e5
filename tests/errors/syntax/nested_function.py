"""A function inside a function."""


def main(x: int):
    def inner(y: int):
        return y

    return inner(x)

# error: UnsupportedNodeError
# function definitions aren't supported; define the function outside and call it:
#   File "nested_function.py", line 5
# def main(x: int):
#     def inner(y: int):
#     ~~~ <--- HERE
#         return y
