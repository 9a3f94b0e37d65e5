"""The module is called with an argument of the wrong type."""

import ts


class Net(ts.nn.Module):
    def forward(self, x: int):
        return x


main = Net()


# call: main("a")

# error: RuntimeError
# forward() Expected a value of type 'int' for argument 'x' but instead found type 'str'.
# Position: 1
# Value: 'a'
# Declaration: forward(__torch__.errors.forward_type.Net self, int x) -> int
# Cast error details: Unable to cast Python instance of type <class 'str'> to int
