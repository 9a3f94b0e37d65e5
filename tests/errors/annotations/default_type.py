"""A default of another type."""


def main(x: int = "a"):
    return x

# error: FrontendError
# Expected a default value of type int on parameter "x".:
#   File "default_type.py", line 4
# def main(x: int = "a"):
# ~~~~~~~~~~~~~~~~~~~~~~~
#     return x
#     ~~~~~~~~ <--- HERE
