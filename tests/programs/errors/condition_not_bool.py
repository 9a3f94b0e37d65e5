"""A condition that is no bool."""


def main():
    xs = [1]
    if xs:  # expect error: Could not cast value of type int[] to bool
        return 1
    return 2

# not in PyTorch
