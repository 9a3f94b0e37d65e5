"""Arithmetic of an int and a float returns a float."""
# rule: arithmetic


def main():
    i = 3
    f = 0.5
    print(i + f, i * f, i - f)  # expect: 3.5 1.5 2.5
    print(i > f, i == 3.0)  # expect: True True
