"""An else branch of a while loop."""


def main(x: int):
    while x > 0:
        x -= 1
    else:
        x = 5
    return x


# torch: __init__(): incompatible constructor arguments. The following argument types are supported

# error: NotSupportedError
# else branches of while loops aren't supported; set a flag before `break` and test it after:
#   File "while_else.py", line 5
# def main(x: int):
#     while x > 0:
#     ~~~~~ <--- HERE
#         x -= 1
#     else:
