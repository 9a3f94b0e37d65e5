"""A type comment with an undefined name."""


def main(x):
    # type: (Missing) -> int
    return x

# error: CompilationError
# Unknown type name 'Missing':
# # type: (Missing) -> int
#          ~~~~~~~ <--- HERE
