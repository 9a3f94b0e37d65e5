"""A field without an annotation, which is a tensor, has a number as its default."""

from collections import namedtuple

Pair = namedtuple("Pair", ["u", "v"], defaults=[3])


def main(x):
    return Pair(x)

# error: SchemaMatchError
# Pair(Tensor u, Tensor v=3) -> ():
# Expected a value of type 'Tensor (inferred)' for argument 'v' but instead found type 'int'.
# Inferred 'v' to be of type 'Tensor' because it was not annotated with an explicit type.
# :
#   File "default_of_other_type.py", line 9
# def main(x):
#     return Pair(x)
#            ~~~~ <--- HERE
