"""The error for a comprehension with a condition names the construct."""


def main():
    return [i for i in range(5) if i > 2]  # expect error: Comprehension ifs are not supported yet

# the source range of a comprehension is empty in PyTorch
