"""An attribute that `__init__` does not assign."""

import ts


class Net(ts.nn.Module):
    def forward(self, x):
        self.last = x
        return x


main = Net()

# error: CompilationError
# Tried to set nonexistent attribute: last. Did you forget to initialize it in __init__()?:
#   File "new_attribute.py", line 8
#     def forward(self, x):
#         self.last = x
#         ~~~~~~~~~~~~~ <--- HERE
#         return x
