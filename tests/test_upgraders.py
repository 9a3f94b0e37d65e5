"""Operators of old archives keep the semantics of the archive's format version."""

import io

import pytest

import ts
from tests.test_archives import rewritten
from tests.untrusted_input.handcrafted_archives import archive, module


def run(call, version):
    data = archive(module(f"return {call}", parameters=", x: Tensor"))
    return ts.jit.load(io.BytesIO(rewritten(data, version=b"%d\n" % version)))(ts.zeros(3))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch.full([2], 3)", ts.tensor([3.0, 3.0])),
        ("torch.full([2], 3, dtype=None, layout=None, device=None, pin_memory=None)", ts.tensor([3.0, 3.0])),
        ('torch.full([2], 3, dtype=4, layout=0, device=torch.device("cpu"), pin_memory=False)', ts.tensor([3, 3])),
        ("torch.full([2], True)", ts.tensor([1.0, 1.0])),
        ("torch.full([2], 3, out=x)", ts.tensor([3.0, 3.0])),
    ],
)
def test_full_of_version_4(call, expected):
    """`full` of version 4 without a dtype uses the default dtype for any fill value."""
    result = run(call, 4)
    assert result.dtype == expected.dtype and result.tolist() == expected.tolist()


@pytest.mark.parametrize("number", ["", ", None", ", 100"])
@pytest.mark.parametrize(
    "rest", ["", ", out=x", ", dtype=6", ', dtype=None, layout=None, device=torch.device("cpu"), pin_memory=False']
)
def test_steps_of_linspace_and_logspace_have_a_default(number, rest):
    """Missing steps are 100 in archives up to version 7 (linspace) and 8 (logspace), and an error in later
    versions."""
    for name, last in (("linspace", 7), ("logspace", 8)):
        call = f"torch.{name}(0, 1{number}{rest})"
        assert run(call, last).tolist() == getattr(ts, name)(0, 1, 100).tolist()
        if number != ", 100":
            with pytest.raises(RuntimeError, match="steps"):
                run(call, last + 1)


def test_base_of_logspace():
    assert run("torch.logspace(0, 3, None, 2., out=x)", 8)[-1] == 8
    assert run("torch.logspace(0, 3, 4, 2., out=x)", 8).tolist() == [1, 2, 4, 8]
