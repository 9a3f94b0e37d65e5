"""An augmented assignment with `@=`."""


def main(x):
    x @= x
    return x

# error: NotSupportedError
# unsupported kind of augmented assignment: MatMult:
#   File "matrix_augmented.py", line 5
# def main(x):
#     x @= x
#       ~~ <--- HERE
#     return x
