"""A comprehension with a condition is refused by name."""


def main():
    return [i for i in range(5) if i > 2]  # expect error: Comprehension ifs are not supported yet

# the range of a comprehension has no characters in PyTorch
