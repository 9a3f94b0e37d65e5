"""A generator has a separate stream of random numbers; in-place sampling draws from it."""
# not in PyTorch: it creates the generator once, at compile time.

import ts


def main():
    g = ts.Generator()
    g.manual_seed(3)
    a = ts.rand([3], generator=g)
    g.manual_seed(3)
    b = ts.zeros([3]).uniform_(0.0, 1.0, generator=g)
    print(bool((a == b).all()), g.initial_seed())  # expect: True 3
    ts.manual_seed(0)
    x = ts.zeros([1000]).bernoulli_(0.25)
    print(200 < float(x.sum()) < 300, bool(((x == 0) | (x == 1)).all()))  # expect: True True
    y = ts.zeros([1000]).exponential_().log_normal_().cauchy_().geometric_(0.5)
    print(bool((y >= 1).all()))  # expect: True
    z = ts.zeros([100], dtype=ts.int64).random_(2, 5)
    print(int(z.min()), int(z.max()))  # expect: 2 4
