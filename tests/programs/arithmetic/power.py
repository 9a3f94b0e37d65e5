"""`**` of ints returns a float only for a negative exponent; of floats it returns a float."""
# rule: power


def main():
    n = 3
    print(2.0**n)  # expect: 8. (python: 8.0)
    x = 2.0
    print(x**0.5 > 1.414, x**-1.0)  # expect: True 0.5
