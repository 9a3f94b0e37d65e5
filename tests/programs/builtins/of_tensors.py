"""Python builtins that PyTorch also supports for tensors."""
# rule: builtin.math

import ts


def main():
    x = ts.tensor([-1.5, 2.5])
    print(ts.equal(abs(x), ts.tensor([1.5, 2.5])))  # expect: True
    print(ts.equal(abs(x - 3) + 1, ts.tensor([5.5, 1.5])))  # expect: True
    print(ts.equal(pow(x, 2), ts.tensor([2.25, 6.25])), int(pow(2, ts.tensor(3))))  # expect: True 8
    print(ts.equal(reversed(x), ts.tensor([2.5, -1.5])))  # expect: True
    print(len(x), int(ts.tensor(3)), bool(ts.tensor(0)))  # expect: 2 3 False
