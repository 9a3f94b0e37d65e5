"""The literal of the smallest int is accepted, although its digits alone exceed the range of ints."""


def main():
    smallest = -9223372036854775808
    print(smallest, smallest + 1)  # expect: -9223372036854775808 -9223372036854775807
    print([1, 2, 3][-9223372036854775808:], "abc"[:9223372036854775807])  # expect: [1, 2, 3] abc

# not in PyTorch
