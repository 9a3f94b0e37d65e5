"""`/` of ints is a float."""


def main():
    print(7 / 2, 1 / 4)  # expect: 3.5 0.25
