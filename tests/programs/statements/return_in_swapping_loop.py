"""Early returns from loops that swap variables: returned values are those of the current iteration."""


def gcd(a: int, b: int, limit: int) -> int:
    turns = 0
    while b != 0:
        if turns == limit:
            return a * 1000 + b
        a, b = b, a % b
        turns += 1
    return a


def first_above(bound: int) -> int:
    a, b = 0, 1
    while bound > 0:
        if b > bound:
            if a % 2 == 0:
                return b
            return a
        a, b = b, a + b
    return -1


def rotated(n: int) -> int:
    a, b, c = 1, 2, 3
    for i in range(n):
        if i == 5:
            return a * 100 + b * 10 + c
        a, b, c = b, c, a
    return -a


def main():
    print(gcd(48, 36, 10), gcd(48, 36, 1))  # expect: 12 36012
    print(first_above(20), first_above(10), first_above(50))  # expect: 13 13 55
    print(rotated(0), rotated(4), rotated(9))  # expect: -1 -2 312
