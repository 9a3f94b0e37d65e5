"""A default whose type differs from the annotation."""


def main(x: int = "a"):
    return x

# error: FrontendError
# Expected a default value of type int on parameter "x".:
#   File "default_type.py", line 4
# def main(x: int = "a"):
#                   ~~ <--- HERE
#     return x
# Hint: write a default of type int, or annotate `x: str`
