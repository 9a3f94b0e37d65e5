"""Numbers, strings, bools, None and tuples of the surrounding scope are constants."""
# rule: resolve.snapshot

N = 3
NAME = "n"
RATE = 0.25
PAIR = (1, 2.5)


def main():
    print(N, NAME, RATE, PAIR[1])  # expect: 3 n 0.25 2.5

# not in PyTorch
