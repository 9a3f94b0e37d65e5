"""A call of a method of the base class through `super()`."""

import ts


class Base(ts.nn.Module):
    def forward(self, x):
        return x


class Net(Base):
    def forward(self, x):
        return super().forward(x)


main = Net()

# error: CompilationError
# 'Tensor' object has no attribute or method 'forward'.:
#   File "super_call.py", line 13
#     def forward(self, x):
#         return super().forward(x)
#                ~~~~~~~~~~~~~ <--- HERE
# Hint: scripts do not support `super()`: call an inherited method with another name
