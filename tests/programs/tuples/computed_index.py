"""A tuple with elements of one type can be indexed with a computed index."""


def main():
    t = (3, 4, 5)
    total = 0
    for i in range(3):
        total += t[i] * t[i - 3]
    print(total)  # expect: 50
