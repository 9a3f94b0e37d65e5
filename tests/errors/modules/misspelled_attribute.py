"""A misspelled attribute."""

import ts


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(1, 1)

    def forward(self, x):
        return self.linaer(x)


main = Net()

# error: CompilationError
# Module 'Net' has no attribute 'linaer' :
#   File "misspelled_attribute.py", line 12
#     def forward(self, x):
#         return self.linaer(x)
#                ~~~~~~~~~~~ <--- HERE
# Hint: did you mean 'linear'?
