"""Unpacking a list into names."""
# rule: unpacking


def main():
    xs = [4, 5]
    a, b = xs
    print(a, b)  # expect: 4 5
