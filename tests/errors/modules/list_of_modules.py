"""Modules in a Python list."""

import ts


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [ts.nn.Linear(1, 1)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


main = Net()

# error: CompilationError
# Module 'Net' has no attribute 'layers' (This attribute exists on the Python module, but we failed to convert Python type: 'list' to a TorchScript type. Could not infer type of list element: Cannot infer concrete type of torch.nn.Module. Its type was inferred; try adding a type annotation for the attribute.):
#   File "list_of_modules.py", line 12
#     def forward(self, x):
#         for layer in self.layers:
#                      ~~~~~~~~~~~ <--- HERE
#             x = layer(x)
#         return x
# Hint: put modules into a ts.nn.ModuleList or a ts.nn.ModuleDict
