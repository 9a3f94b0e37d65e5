"""An else branch of a for loop."""


def main(x: int):
    for i in range(x):
        x += i
    else:
        x = 5
    return x

# error: NotSupportedError
# else branches of for loops aren't supported; set a flag before `break` and test it after:
#   File "for_else.py", line 5
# def main(x: int):
#     for i in range(x):
#     ~~~ <--- HERE
#         x += i
#     else:
