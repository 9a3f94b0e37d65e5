"""A type comment with a name that nothing defines."""


def main(x):
    # type: (Missing) -> int
    return x

# error: CompilationError
# Unknown type name 'Missing':
# # type: (Missing) -> int
#          ~~~~~~~ <--- HERE
