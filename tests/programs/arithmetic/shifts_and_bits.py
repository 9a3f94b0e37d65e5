"""Shifts and bitwise operators of ints."""
# rule: shifts, bitwise


def main():
    a = 12
    b = 10
    print(a & b, a | b, a ^ b)  # expect: 8 14 6
    print(a << 2, a >> 2)  # expect: 48 3
    print(-a >> 1)  # expect: -6
    a <<= 1
    a |= 1
    print(a)  # expect: 25
