"""An assignment to an attribute of a number."""


def main(x: int):
    x.size = 3
    return x

# error: CompilationError
# Tried to set an attribute: size on a non-class: int:
#   File "attribute_of_number.py", line 5
# def main(x: int):
#     x.size = 3
#     ~~~~~~~~~~ <--- HERE
#     return x
