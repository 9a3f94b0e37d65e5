"""A type of `typing` that is not imported is an undefined name, as in Python."""
# rule: typing.import

import ts as torch


def define():
    @torch.jit.export
    def inc(x: Tuple[int, int]):
        return (x[0] + 1, x[1] + 1)


try:
    define()
except NameError as error:
    print(error)  # expect: name 'Tuple' is not defined
