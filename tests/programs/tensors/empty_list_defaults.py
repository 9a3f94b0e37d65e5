"""An empty list as a default in a schema has the declared element type, instead of Tensor."""

import ts


def main():
    x = ts.arange(6).reshape([2, 3])
    print(int(ts.amax(x)), int(x.amin()), int(ts.roll(x, 1)[0, 0]))  # expect: 5 0 5
    pooled = ts.nn.functional.avg_pool2d(x.to(ts.float32).reshape([1, 1, 2, 3]), [2, 2])
    print(pooled.numel(), int(pooled.sum()))  # expect: 1 2
