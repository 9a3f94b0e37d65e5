"""An unknown method of a tensor."""


def main(x):
    return x.foo()

# error: CompilationError
# 'Tensor (inferred)' object has no attribute or method 'foo'.:
#   File "no_such_tensor_method.py", line 5
# def main(x):
#     return x.foo()
#            ~~~~~ <--- HERE
# Hint: did you mean 'floor'?
