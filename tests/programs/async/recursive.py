# not in PyTorch: it has no recursive functions
import ts


def fib(n: int) -> int:
    if n < 2:
        return n
    later = ts.jit.fork(fib, n - 1)
    return fib(n - 2) + ts.jit.wait(later)


def deep(n: int) -> int:
    if n == 0:
        return 0
    return ts.jit.wait(ts.jit.fork(deep, n - 1)) + 1


def main():
    print(fib(12))  # expect: 144
    print(deep(200))  # expect: 200
