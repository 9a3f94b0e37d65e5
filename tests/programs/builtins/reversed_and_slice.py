"""Slice objects; a list reversed in place."""
# rule: builtin.slice

def main():
    xs = [1, 2, 3, 4]
    xs.reverse()
    print(xs, xs[slice(1, 3)], xs[slice(None, None, 2)])  # expect: [4, 3, 2, 1] [3, 2] [4, 2]
