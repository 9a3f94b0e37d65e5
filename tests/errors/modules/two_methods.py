"""Two methods do not compile: both errors are reported."""

import ts


class Net(ts.nn.Module):
    def forward(self, x):
        return x + missing

    @ts.jit.export
    def other(self, x: int) -> str:
        return x


main = Net()

# error: CompilationError
# undefined value missing:
#   File "two_methods.py", line 8
#     def forward(self, x):
#         return x + missing
#                    ~~~~~~~ <--- HERE
#
# 1 more error:
# Return value was annotated as having type str but is actually of type int:
#   File "two_methods.py", line 12
#     @ts.jit.export
#     def other(self, x: int) -> str:
#         return x
#         ~~~~~~~~ <--- HERE
# Hint: convert the value, or write the type `int`
