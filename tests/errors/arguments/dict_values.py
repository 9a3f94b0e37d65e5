"""A dict argument with a value of the wrong type."""

from typing import Dict


def main(x: Dict[str, int]):
    return x


# call: main({"a": 1.5})

# error: RuntimeError
# main() Expected a value of type 'Dict[str, int]' for argument 'x' but instead found type 'dict'.
# Position: 0
# Value: {'a': 1.5}
# Declaration: main(Dict(str, int) x) -> Dict(str, int)
# Cast error details: Unable to cast Python instance of type <class 'float'> to int
