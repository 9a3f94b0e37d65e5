"""An attribute whose Python type has no TorchScript type."""

import ts


class Settings:
    pass


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.settings = Settings()

    def forward(self, x):
        return x + self.settings.size


main = Net()


# torch: '__torch__.errors.unsupported_attribute.Settings' object has no attribute or method 'size'. Did you forget to initialize an attribute in __init__()?

# error: CompilationError
# Module 'Net' has no attribute 'settings' (This attribute exists on the Python module, but we failed to convert Python type: 'errors.unsupported_attribute.Settings' to a TorchScript type. Only tensors and (possibly nested) tuples of tensors, lists, or dicts are supported as inputs or outputs of traced functions, but instead got value of type Settings.. Its type was inferred; try adding a type annotation for the attribute.):
#   File "unsupported_attribute.py", line 16
#     def forward(self, x):
#         return x + self.settings.size
#                    ~~~~~~~~~~~~~ <--- HERE
