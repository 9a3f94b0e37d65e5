"""An unsupported builtin function of Python."""


def main(x: int):
    return open("file")

# error: CompilationError
# Python builtin <built-in function open> is currently not supported in Torchscript; call it in a function that is marked with @ts.jit.ignore:
#   File "builtin_function.py", line 5
# def main(x: int):
#     return open("file")
#            ~~~~ <--- HERE
