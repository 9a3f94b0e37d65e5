"""Gradients are read outside of scripts."""

# torch: main() is missing value for argument 'x'. Declaration: main(Tensor x) -> Tensor


def main(x):
    return x.grad

# error: CompilationError
# Unknown builtin op: prim::grad. Scripts cannot read gradients: take `x.grad` outside, and give it to the function:
#   File "gradient.py", line 7
# def main(x):
#     return x.grad
#            ~~~~~~ <--- HERE
