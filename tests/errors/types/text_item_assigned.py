"""An assignment to a character of a string."""


def main(x: str):
    x[0] = "a"
    return x


# torch: Arguments for call are not valid.

# error: CompilationError
# str does not support subscripted assignment:
#   File "text_item_assigned.py", line 5
# def main(x: str):
#     x[0] = "a"
#     ~~~~ <--- HERE
#     return x
