"""An attribute that is an empty list without an annotation."""

import ts


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.sizes = []

    def forward(self, x):
        return len(self.sizes)


main = Net()

# error: CompilationError
# Module 'Net' has no attribute 'sizes' (This attribute exists on the Python module, but we failed to convert Python type: 'list' to a TorchScript type. List trace inputs must have elements. Its type was inferred; try adding a type annotation for the attribute.):
#   File "empty_list_attribute.py", line 12
#     def forward(self, x):
#         return len(self.sizes)
#                    ~~~~~~~~~~ <--- HERE
