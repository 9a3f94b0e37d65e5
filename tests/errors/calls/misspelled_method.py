"""A misspelled tensor method."""

import ts


def main(x: ts.Tensor):
    return x.sigmoidd()

# error: CompilationError
# 'Tensor' object has no attribute or method 'sigmoidd'.:
#   File "misspelled_method.py", line 7
# def main(x: ts.Tensor):
#     return x.sigmoidd()
#            ~~~~~~~~~~ <--- HERE
# Hint: did you mean 'sigmoid'?
