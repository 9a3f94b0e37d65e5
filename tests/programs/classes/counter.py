"""Attributes, methods, default arguments, properties and static methods."""


class Counter:
    def __init__(self, start: int, step: int = 1):
        self.n = start
        self.step = step

    def next(self, times: int = 1) -> int:
        self.n += self.step * times
        return self.n

    @property
    def double(self) -> int:
        return self.n * 2

    @double.setter
    def double(self, value: int):
        self.n = value // 2

    @staticmethod
    def largest(a: int, b: int) -> int:
        return a if a > b else b


def main():
    c = Counter(3)
    d = Counter(10, step=5)
    print(c.next(), c.next(4), d.next())  # expect: 4 8 15
    c.double = 100
    c.step = 7
    print(c.n, c.double, c.next(), d.n)  # expect: 50 100 57 15
    print(Counter.largest(c.n, d.n))  # expect: 57
