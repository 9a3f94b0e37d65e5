"""A cast method of a tensor is called with an argument."""


def main(x):
    return x.float(1)


# torch: args.empty() && kwargs.empty() INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/torch/csrc/jit/frontend/sugared_value.h":559, please report a bug to PyTorch.

# error: CompilationError
# a cast method of a tensor takes no arguments; use `.to(...)`:
#   File "cast_arguments.py", line 5
# def main(x):
#     return x.float(1)
#            ~~~~~~~ <--- HERE
