"""A value of another type is assigned to an attribute."""

import ts


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 1

    def forward(self, x):
        self.count = "one"
        return x


main = Net()

# error: CompilationError
# Wrong type for attribute assignment. Expected int but got str:
#   File "assigned_type.py", line 12
#     def forward(self, x):
#         self.count = "one"
#         ~~~~~~~~~~~~~~~~~ <--- HERE
#         return x
