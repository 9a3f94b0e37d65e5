"""A module class is scripted instead of an instance."""

import ts


class Net(ts.nn.Module):
    def forward(self, x):
        return x


main = Net

# error: CompilationError
# Type '<class 'errors.class_scripted.Net'>' cannot be compiled since it inherits from nn.Module, pass an instance instead
# Hint: `ts.jit.script(Net(...))`
