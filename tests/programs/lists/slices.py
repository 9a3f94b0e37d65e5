"""Slices of lists are copies."""
# rule: slices


def main():
    xs = [0, 1, 2, 3, 4, 5]
    print(xs[1:3], xs[:2], xs[4:])  # expect: [1, 2] [0, 1] [4, 5]
    print(xs[::2], xs[-2:], xs[1:-1])  # expect: [0, 2, 4] [4, 5] [1, 2, 3, 4]
    print(xs[10:], xs[-100:2])  # expect: [] [0, 1]
    ys = xs[:]
    ys[0] = 9
    print(xs[0], ys[0], xs[-1])  # expect: 0 9 5
