"""reversed of a list: its elements from the last to the first."""
# rule: builtin.reversed
# not in PyTorch: it only takes tensors.


def main():
    for x in reversed([1, 2]):
        print(x)
    # expect: 2
    # expect: 1
