"""Callables other than plain functions: decorated and partial functions, bound methods, callable objects."""
# not in PyTorch: it raises an internal assertion for bound methods.

import functools


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@logged
def plus(x: int, y: int = 1) -> int:
    return x + y


class Scale:
    def __init__(self, factor: int):
        self.factor = factor

    def __call__(self, x: int) -> int:
        return x * self.factor


triple = Scale(3)


def power(base: int, exponent: int) -> int:
    return base**exponent


square = functools.partial(power, 2)


@functools.lru_cache
def slow(n: int) -> int:
    return n + 100


def main():
    print(plus(4))  # expect: 5
    print(triple(5))  # expect: 15
    print(square(6))  # expect: 64
    print(slow(1) + slow(1))  # expect: 202
    f = plus
    print(f(1, y=2))  # expect: 3
