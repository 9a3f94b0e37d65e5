"""A method of the base class through `super()`."""

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
# Hint: `super()` has no meaning in scripts: call a method of another name that the class inherits
