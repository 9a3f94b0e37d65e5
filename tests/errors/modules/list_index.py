"""A ModuleList is indexed with a variable."""

import ts


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = ts.nn.ModuleList([ts.nn.ReLU(), ts.nn.Tanh()])

    def forward(self, x, i: int):
        return self.layers[i](x)


main = Net()

# error: CompilationError
# Expected integer literal for index but got a variable or non-integer. ModuleList/Sequential indexing is only supported with integer literals. For example, 'i = 4; self.layers[i](x)' will fail because i is not a literal. Enumeration is supported, e.g. 'for index, v in enumerate(self): out = v(inp)':
#   File "list_index.py", line 12
#     def forward(self, x, i: int):
#         return self.layers[i](x)
#                ~~~~~~~~~~~~~~ <--- HERE
# Hint: declare the methods that all of them have as an interface, and write `layer: Interface = self.layers[i]`
