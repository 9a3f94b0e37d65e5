"""A submodule does not compile."""

import ts


class Inner(ts.nn.Module):
    def forward(self, x):
        return x.no_such_method()


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x)


main = Net()

# error: CompilationError
# 'Tensor (inferred)' object has no attribute or method 'no_such_method'.:
#   File "submodule_body.py", line 8
#     def forward(self, x):
#         return x.no_such_method()
#                ~~~~~~~~~~~~~~~~ <--- HERE
