"""A return inside an endless loop."""


def collatz(n: int) -> int:
    steps = 0
    while True:
        if n == 1:
            return steps
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 1000:
            break
    return -1


def main():
    print(collatz(27))  # expect: 111
