"""`gradcheck` and `gradgradcheck` equal PyTorch's for correct gradients, wrong gradients and invalid
arguments."""

import pytest

import ts

torch = pytest.importorskip("torch")


def leaf(m, values, dtype="float64"):
    return m.tensor(values, dtype=getattr(m, dtype), requires_grad=True)


def three(m):
    return leaf(m, [1.0, 2.0, 3.0])


def matrix(m):
    return leaf(m, [[1.1, 2.2], [3.4, 4.7]])


def complex_three(m):
    return leaf(m, [1 + 2j, 2 - 1j, 3j], "complex128")


def written(x):
    y = x.clone()
    y[0].mul_(3)
    return y


CASES = {
    "right": lambda m: m.autograd.gradcheck(m.sin, (three(m),)),
    "one argument, no tuple": lambda m: m.autograd.gradcheck(m.sin, three(m)),
    "fast": lambda m: m.autograd.gradcheck(m.mm, (matrix(m), matrix(m)), fast_mode=True, check_forward_ad=True),
    "complex": lambda m: m.autograd.gradcheck(m.sin, (complex_three(m),), check_forward_ad=True),
    "complex, fast": lambda m: m.autograd.gradcheck(
        m.sin, (complex_three(m),), fast_mode=True, check_forward_ad=True
    ),
    "several results": lambda m: m.autograd.gradcheck(lambda x: (x * x, x.sum(), x.detach()), three(m)),
    "everything": lambda m: m.autograd.gradcheck(
        m.mm, (matrix(m), matrix(m)), check_forward_ad=True, check_batched_grad=True, check_grad_dtypes=True,
        check_batched_forward_grad=True,
    ),
    "a view written in place": lambda m: m.autograd.gradcheck(written, matrix(m), check_forward_ad=True),
    "decompositions": lambda m: m.autograd.gradcheck(m.linalg.svdvals, matrix(m), check_forward_ad=True),
    "no gradient where there is one": lambda m: m.autograd.gradcheck(lambda x: x.detach() * 2, three(m)),
    "flat": lambda m: m.autograd.gradcheck(lambda x: x.round(), matrix(m), check_forward_ad=True),
    "half a gradient": lambda m: m.autograd.gradcheck(lambda x, y: x * y.detach(), (three(m), three(m))),
    "half, quiet": lambda m: m.autograd.gradcheck(
        lambda x, y: x * y.detach(), (three(m), three(m)), raise_exception=False
    ),
    "half a complex one": lambda m: m.autograd.gradcheck(lambda x: x * 1j * x.detach(), three(m)),
    "no leaves": lambda m: m.autograd.gradcheck(m.sin, (m.ones(3),)),
    "expanded": lambda m: m.autograd.gradcheck(m.sin, (leaf(m, [1.0]).expand(3),)),
    "no mode": lambda m: m.autograd.gradcheck(m.sin, three(m), check_backward_ad=False),
    "batched without back": lambda m: m.autograd.gradcheck(
        m.sin, three(m), check_backward_ad=False, check_forward_ad=True, check_batched_grad=True
    ),
    "batched tangents without tangents": lambda m: m.autograd.gradcheck(
        m.sin, three(m), check_batched_forward_grad=True
    ),
    "second": lambda m: m.autograd.gradgradcheck(m.sin, three(m), check_fwd_over_rev=True),
    "second of a product": lambda m: m.autograd.gradgradcheck(
        m.prod, matrix(m), check_fwd_over_rev=True, gen_non_contig_grad_outputs=True, check_batched_grad=True
    ),
    "second, gradients given": lambda m: m.autograd.gradgradcheck(m.exp, three(m), three(m)),
    "second, complex": lambda m: m.autograd.gradgradcheck(m.sin, complex_three(m)),
    "second, no mode": lambda m: m.autograd.gradgradcheck(m.sin, three(m), check_rev_over_rev=False),
    "second, batched without back": lambda m: m.autograd.gradgradcheck(
        m.sin, three(m), check_rev_over_rev=False, check_fwd_over_rev=True, check_batched_grad=True,
        check_undefined_grad=False,
    ),
}  # fmt: skip


def outcome(case, m):
    try:
        return case(m)
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("name", CASES)
def test_outcomes_equal_pytorch(name):
    """`gradcheck` returns PyTorch's answer or raises its error message."""
    assert outcome(CASES[name], ts) == outcome(CASES[name], torch)


def test_fast_mode_errors_name_the_largest_element_difference():
    with pytest.raises(ts.errors.GradcheckError, match=r"max per-element difference"):
        ts.autograd.gradcheck(lambda x: x * x.detach(), three(ts), fast_mode=True)


def test_float32_is_warned_about():
    for m in (ts, torch):
        with pytest.warns(UserWarning, match="is not a double precision floating point"):
            assert m.autograd.gradcheck(m.sin, (leaf(m, [0.5], "float32"),), raise_exception=False) in (
                True,
                False,
            )
