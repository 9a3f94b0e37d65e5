"""Division of a complex and a real number returns a complex number."""


def half(z: complex) -> complex:
    return z / 2


def main():
    print(half(1 + 2j) + 1.0, 2.0 / 2j)  # expect: 1.5+1.j 0.-1.j (python: (1.5+1j) -1j)

# not in PyTorch
