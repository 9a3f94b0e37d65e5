"""Functions and constants of the module `math`."""
# rule: builtin.math

import math


def main():
    print(math.floor(2.7), math.ceil(2.1), math.floor(-2.5))  # expect: 2 3 -3
    print(math.sqrt(16.0) + 0.5)  # expect: 4.5
    print(math.pi > 3.14, math.inf > 1e300)  # expect: True True
    print(math.gcd(12, 18), math.factorial(5))  # expect: 6 120
    print(math.isnan(math.nan))  # expect: True
