"""Type comments for the parameters, without one for the result."""


def main(
    x,  # type: int
    y,  # type: int
):
    return x

# error: FrontendError
# Return type line '# type: (...) -> ...' not found on multiline type annotation
# for type lines:
#     x,  # type: int
#     y,  # type: int
# (see PEP 484)
