"""An argument without an annotation is a Tensor."""


def helper(x: int):
    return x


def main(x):
    return helper(x)

# error: RuntimeError
# main() is missing value for argument 'x'. Declaration: main(Tensor x) -> int
