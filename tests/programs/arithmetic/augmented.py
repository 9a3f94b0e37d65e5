"""All augmented assignments of numbers."""
# rule: statements.augmented


def main():
    x = 10
    x += 5
    x -= 3
    x *= 4
    x //= 5  # PyTorch has no `//=`
    print(x)  # expect: 9

# not in PyTorch
