"""A number for a parameter without an annotation, which is a Tensor."""

import ts


class Net(ts.nn.Module):
    def more(self, n):
        return n + 1

    def forward(self, n: int):
        return self.more(n)


main = Net()

# error: SchemaMatchError
# more(__torch__.errors.untyped_method.Net self, Tensor n) -> Tensor:
# Expected a value of type 'Tensor (inferred)' for argument 'n' but instead found type 'int'.
# Inferred 'n' to be of type 'Tensor' because it was not annotated with an explicit type.
# :
#   File "untyped_method.py", line 11
#     def forward(self, n: int):
#         return self.more(n)
#                ~~~~~~~~~ <--- HERE
# Hint: annotate the parameter where the function is defined: `n: int`
