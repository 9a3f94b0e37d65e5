"""A type comment with invalid syntax."""


def main(x):
    # type: int -> int
    return x

# error: CompilationError
# expected ( but found 'ident' here: the comment is written `# type: (int, Tensor) -> int`:
# # type: int -> int
#         ~~~ <--- HERE
