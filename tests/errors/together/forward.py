"""`forward` calls two methods and a function that do not compile, and so does `forward` of a submodule."""

import ts as torch


def helper(x):
    return x.helper


class Below(torch.nn.Module):
    def forward(self, x):
        return x.below


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.below = Below()

    def first(self, x):
        return missing

    def second(self, x):
        return x.second

    def forward(self, x):
        y = self.first(x)
        z = self.second(y)
        return self.below(helper(z))


main = Module()

# error: CompilationError
# 'Tensor (inferred)' object has no attribute or method 'below'.:
#   File "forward.py", line 12
#     def forward(self, x):
#         return x.below
#                ~~~~~~~ <--- HERE
#
# 3 more errors:
# undefined value missing:
#   File "forward.py", line 21
#     def first(self, x):
#         return missing
#                ~~~~~~~ <--- HERE
# 'Module.first' is being compiled since it was called from 'forward'
#   File "forward.py", line 27
#     def forward(self, x):
#         y = self.first(x)
#             ~~~~~~~~~~ <--- HERE
#         z = self.second(y)
#         return self.below(helper(z))
#
# 'Tensor (inferred)' object has no attribute or method 'second'.:
#   File "forward.py", line 24
#     def second(self, x):
#         return x.second
#                ~~~~~~~~ <--- HERE
# 'Module.second' is being compiled since it was called from 'forward'
#   File "forward.py", line 28
#     def forward(self, x):
#         y = self.first(x)
#         z = self.second(y)
#             ~~~~~~~~~~~ <--- HERE
#         return self.below(helper(z))
#
# 'Tensor (inferred)' object has no attribute or method 'helper'.:
#   File "forward.py", line 7
# def helper(x):
#     return x.helper
#            ~~~~~~~~ <--- HERE
# 'helper' is being compiled since it was called from 'forward'
#   File "forward.py", line 29
#         y = self.first(x)
#         z = self.second(y)
#         return self.below(helper(z))
#                           ~~~~~~~~ <--- HERE
