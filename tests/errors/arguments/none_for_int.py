"""None for an int parameter."""


def main(x: int):
    return x


# call: main(None)

# error: RuntimeError
# main() Expected a value of type 'int' for argument 'x' but instead found type 'NoneType'.
# Position: 0
# Value: None
# Declaration: main(int x) -> int
# Cast error details: Unable to cast Python instance of type <class 'NoneType'> to int
