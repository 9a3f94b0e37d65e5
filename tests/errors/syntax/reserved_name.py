"""A variable name that is reserved for the compiler."""


def main(x: int):
    __jit_counter = x
    return __jit_counter

# error: NotSupportedError
# names of variables used in JIT-ed functions can't start with __jit:
#   File "reserved_name.py", line 5
# def main(x: int):
#     __jit_counter = x
#     ~~~~~~~~~~~~~ <--- HERE
#     return __jit_counter
