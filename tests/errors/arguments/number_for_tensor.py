"""A number for a Tensor parameter."""


def main(x):
    return x


# call: main(1)

# error: RuntimeError
# main() Expected a value of type 'Tensor (inferred)' for argument 'x' but instead found type 'int'.
# Inferred 'x' to be of type 'Tensor' because it was not annotated with an explicit type.
# Position: 0
# Value: 1
# Declaration: main(Tensor x) -> Tensor
# Cast error details: Unable to cast 1 to Tensor
