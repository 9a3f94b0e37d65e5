"""A tuple of one type takes an index that the program computes."""


def main():
    t = (3, 4, 5)
    total = 0
    for i in range(3):
        total += t[i] * t[i - 3]
    print(total)  # expect: 50
