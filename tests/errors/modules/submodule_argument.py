"""A submodule is called with too many arguments."""

import ts


class Inner(ts.nn.Module):
    def forward(self, x):
        return x


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x, 2)


main = Net()

# error: SchemaMatchError
# forward(__torch__.errors.submodule_argument.Inner self, Tensor x) -> Tensor:
# Expected at most 2 arguments but found 3 positional arguments.
# :
#   File "submodule_argument.py", line 17
#     def forward(self, x):
#         return self.inner(x, 2)
#                ~~~~~~~~~~ <--- HERE
