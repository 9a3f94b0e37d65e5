"""The text of definitions (`str(get_jit_def(f, name))`) equals PyTorch's, even if they do not compile."""

from typing import List, Tuple

import pytest

import ts

torch = pytest.importorskip("torch")
frontend = torch.jit.frontend


def statements(a: int, b: List[int] = [1], c: str = "x") -> Tuple[int, str]:
    x = y = 1
    x += 2
    a.b = 3
    d[1:2, ...] = {"k": [1, 2.5, True, "s"], "j": (1, None)}
    for i, j in zip(a, b):
        if i:
            continue
        elif j:
            break
        else:
            print(i)
    t: int = -3
    z = [q * 2 for q in b]
    w = {k: v for k, v in zip(a, b)}
    del d[1]
    with foo(a) as bar, q:
        pass
    u, *v = a
    return x, u, v


def operators(x, y=None, *, z):
    x[0], y = 1, 2
    x.y += 3
    x[1:] -= y
    x ^= y
    x |= y
    x *= y
    x /= y
    assert 1 == 1, "hello"
    while not x and not y and z:
        x = y if z else x
    first = x[1:2:3], x[:, None, 0], x < 1 <= 2, x is None, {}, [], (), x == 1 != 2, 1j, 1e20, -x, ~x
    return (
        first,
        x | y,
        x ^ y,
        x >> y,
        x and y and z,
        not x,
        y not in x,
        y in x,
        y is not x,
        x @ y,
        x // y**z % 3,
    )


def calls(x):
    # type: (int) -> int
    print(f(1, *x, k=2), f"{x} and {y}")
    x.sigmoid()
    raise ValueError("no")


def typed_by_comments(
    x,  # type: int
    y,  # type: List[int]
):
    # type: (...) -> Tuple[int, int]
    return


def nothing():
    pass


@pytest.mark.parametrize("function", [statements, operators, calls, typed_by_comments, nothing])
def test_text(function):
    name = function.__name__
    ours = ts.jit.frontend.get_jit_def(function, name)
    assert str(ours) == str(frontend.get_jit_def(function, name))


def test_methods():
    """The first parameter of a method has the class as its type."""

    def method(self, x):
        # type: (int) -> int
        return self.y + x

    ours = ts.jit.frontend.get_jit_def(method, "method", self_name="Foo")
    assert str(ours) == str(frontend.get_jit_def(method, "method", self_name="Foo"))
