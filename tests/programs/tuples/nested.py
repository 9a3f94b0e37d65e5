"""Tuples inside tuples and lists."""


def main():
    points = [(1, 2), (3, 4)]
    total = 0
    for x, y in points:
        total += x * y
    print(total, points[1][0], ((1, 2), 3)[0][1])  # expect: 14 3 2
