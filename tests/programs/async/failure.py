import ts


def fails(x: int) -> int:
    assert x < 3, "too large"
    return x


def caller(x: int) -> int:
    later = ts.jit.fork(fails, x)
    return ts.jit.wait(later) + 1  # expect runtime error: too large


def main():
    print(caller(2))  # expect: 3
    print(caller(3))
