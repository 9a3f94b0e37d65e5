"""An attribute that the module does not have."""

import ts


class Net(ts.nn.Module):
    def forward(self, x):
        return x + self.scale


main = Net()

# error: CompilationError
# Module 'Net' has no attribute 'scale' :
#   File "unknown_attribute.py", line 8
#     def forward(self, x):
#         return x + self.scale
#                    ~~~~~~~~~~ <--- HERE
