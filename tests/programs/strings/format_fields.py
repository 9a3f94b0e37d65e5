"""Numbered fields, specifications and doubled braces.  # not in PyTorch, which leaves them as they are"""


def main():
    swapped = "{1} {0}"
    print(swapped.format("a", "b"))  # expect: b a
    numbers = "{:.2f}|{:>4}|{:<4}|{:+d}"
    print(numbers.format(3.14159, 7, "x", 5))  # expect: 3.14|   7|x   |+5
    braces = "{{}} {}"
    print(braces.format(1))  # expect: {} 1
    n = 3
    print(f"{{{n}}}")  # expect: {3}
