"""An undefined name in `forward`."""

import ts


class Net(ts.nn.Module):
    def forward(self, x):
        return x + missing


main = Net()

# error: CompilationError
# undefined value missing:
#   File "forward_name.py", line 8
#     def forward(self, x):
#         return x + missing
#                    ~~~~~~~ <--- HERE
