"""`f(**kwargs)` is rejected."""


def f(a: int) -> int:
    return a


def main():
    kwargs = {"a": 1}
    return f(**kwargs)  # expect error: keyword-arg expansion is not supported
