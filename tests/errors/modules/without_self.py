"""An attribute is used without `self.`."""

import ts


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(1, 1)

    def forward(self, x):
        return linear(x)


main = Net()

# error: CompilationError
# undefined value linear:
#   File "without_self.py", line 12
#     def forward(self, x):
#         return linear(x)
#                ~~~~~~ <--- HERE
# Hint: did you mean 'self.linear'?
