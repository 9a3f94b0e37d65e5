"""A default that is not a tensor, for a parameter without an annotation."""


def main(x=3):
    return x

# error: FrontendError
# Expected a default value of type Tensor (inferred) on parameter "x".Because "x" was not annotated with an explicit type it is assumed to be type 'Tensor'.:
#   File "default_inferred.py", line 4
# def main(x=3):
#            ~ <--- HERE
#     return x
# Hint: annotate it: `x: int`
