"""An argument of the wrong type."""


def main(x: int):
    return x


# call: main("a")

# error: RuntimeError
# main() Expected a value of type 'int' for argument 'x' but instead found type 'str'.
# Position: 0
# Value: 'a'
# Declaration: main(int x) -> int
# Cast error details: Unable to cast Python instance of type <class 'str'> to int
