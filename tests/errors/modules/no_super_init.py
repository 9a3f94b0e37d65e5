"""`Module.__init__` was not called."""

import ts


class Net(ts.nn.Module):
    def __init__(self):
        self.count = 1

    def forward(self, x):
        return x


main = Net()

# error: RuntimeError
# 'errors.no_super_init.Net' has not been initialized, did you forget to call 'super()'?
