"""Every augmented assignment of numbers."""


def main():
    x = 10
    x += 5
    x -= 3
    x *= 4
    x //= 5  # PyTorch has no `//=`
    x %= 7
    print(x)  # expect: 2

# not in PyTorch
