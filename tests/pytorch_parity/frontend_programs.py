"""Functions whose graphs must have PyTorch's text; `test_frontend.py` compiles each separately."""

import math
from typing import Dict, List, Optional, Tuple

import torch


def p_f(a: int, b: int) -> int:
    s = 0
    i = 0
    while i < a:
        if i % 2 == 0 and b > 3:
            s += i
        elif i == 5:
            break
        i += 1
    for j in range(b):
        s = s + j * 2
    return s


def p_g(x, n: int):
    y = x + 1
    l = [1, 2, n]
    z = l[0] if n > 2 else 7
    for q in l:
        y = y.relu() * q
    l.append(3)
    return y, z, -n, x[0], x[1:2], l[1:]


def p_h(x: Optional[int]):
    if x is None:
        return 1
    return x + 1


def p_a1(x):
    if x.any():
        return 1
    return 2


def p_a2(c: bool):
    if c:
        zz = 1
        aa = 2
    else:
        zz = 3
        aa = 4
    return zz + aa


def p_a3():
    x = []
    x.append(torch.ones(2))
    return x


def p_a7(a: int, b: int, c: int):
    return (a + b) * c


def p_a8(a: int, b: int, c: int):
    return a < b < c


def p_a9(x: List[int], d: Dict[str, int]):
    x[0] += 1
    d["a"] = 3
    a, b = x
    (p, q), r = (a, b), 3
    return a + b + p, r


def p_b1(x, y: int):
    x += 1
    x[0] = 2
    x[0, 1:2] += 3
    x[y] = x
    return x[..., None], x[[0, 1]], x[x], x[-1]


def p_b3(n: int, s: str):
    print(n, s)
    assert n > 1, "hey"
    if n > 3:
        raise ValueError("foo")
    return f"{n} x {s}", f"a{n}"


def q_a1(x, l: List[int], s: str):
    return l[:2], l[::2], x[:2], x[:], s[1:]


def q_a2(b: bool, i: int):
    i %= 3
    return b + 1


def q_a3(l: List[int]):
    l += [1]
    return l


def q_a4(x):
    return 2 * x, x.shape, x.T


def q_a5(x: Tuple[int, str, float]):
    y = x[1:]
    for i, v in enumerate((1, 2)):
        print(i, v)
    return x[0], y


def q_a6(l: List[int]):
    for i, v in enumerate(l):
        print(i, v)
    for a, b in zip(l, l):
        print(a, b)
    return list(range(3)), list(l)


def q_a7(x: Optional[int], y: Optional[int]):
    if isinstance(x, int) and y is not None:
        return x + y
    a = b = 3
    return a


def q_a8(l: List[int]):
    return max(l), sum(l), min(3, 4), sorted(l), abs(-3), float(3), str(2)


def q_a9(n: int):
    x: List[int] = []
    y = {1: "a"}
    z: Dict[str, int] = {}
    del y[1]
    return x, y, z, 3 in x, not n, -n, n**2, n / 2


def q_b1(x, n: int):
    while True:
        n += 1
        if n > 5:
            return x
    return x


def helper(x: int, y: float = 2.0) -> float:
    return x * y


def q_c1(n: int):
    return helper(n) + helper(x=n, y=3.0)


def q_c2(x: List[int]):
    for i in x:
        if i < 0:
            continue
        if i > 10:
            return i
    return 0


def q_c3(x: Optional[int]):
    assert x is not None
    y = x + 1
    if not (y > 2 or y < -3):
        y = 4
    return y


def q_c4(d: Dict[str, int], k: str):
    t = 0
    for key in d:
        t += d[key]
    for k2, v in d.items():
        t += v
    if k in d and k not in "abc":
        t += d.get(k, 3)
    return t, len(d), d.keys()


def q_c5(x, y):
    if x.sum() > 0:
        z = x @ y
    else:
        z = x - y
    return (
        torch.relu(z).sum(dim=1, keepdim=True),
        z.size(0),
        z.view(2, -1),
        torch.zeros(2, 3),
        torch.cat([x, y], 0),
    )


def q_c6(n: int):
    return math.sqrt(n) + math.pi, [i * i for i in range(n)], {i: i + 1 for i in range(n)}


def q_c7(s: str):
    out = ""
    for c in s:
        out += c.upper()
    a, *b = (1, 2, 3)
    return out.split(","), s[0], s.join(["a", "b"]), b, "%s=%d" % (s, 3)


def q_c8(x, n: int):
    for row in x:
        n += int(row.sum())
    i = 10
    while i > 0:
        i -= 1
        if i == 4:
            continue
        if i == 2:
            break
    return n if n > 3 else None


def q_c9(a: int, b: float):
    return (
        a + b,
        a / 2,
        a // 2,
        a**2,
        b % 2.0,
        a & 3,
        a << 1,
        a == b,
        not a,
        min(a, 2),
        max(a, b),
        abs(b),
        float(a),
        int(b),
        round(b),
        divmod(a, 2),
    )
