"""A value is assigned to an attribute that is None in `__init__`."""

import ts


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.name = None

    def forward(self, x):
        self.name = "used"
        return x


main = Net()

# error: CompilationError
# Wrong type for attribute assignment. Expected NoneType but got str:
#   File "none_attribute.py", line 12
#     def forward(self, x):
#         self.name = "used"
#         ~~~~~~~~~~~~~~~~~ <--- HERE
#         return x
# Hint: annotate it in the class: `name: Optional[str]`
