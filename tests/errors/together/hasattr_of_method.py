"""`hasattr` is True for a method that does not compile."""

import ts as torch


class Module(torch.nn.Module):
    def broken(self, x):
        return missing

    def forward(self, x):
        if hasattr(self, "broken"):
            return self.broken(x)
        return x


main = Module()

# error: CompilationError
# undefined value missing:
#   File "hasattr_of_method.py", line 8
#     def broken(self, x):
#         return missing
#                ~~~~~~~ <--- HERE
# 'Module.broken' is being compiled since it was called from 'forward'
#   File "hasattr_of_method.py", line 11
#     def forward(self, x):
#         if hasattr(self, "broken"):
#            ~~~~~~~~~~~~~~~~~~~~~ <--- HERE
#             return self.broken(x)
#         return x
