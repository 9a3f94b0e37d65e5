"""Random operators under `vmap` have PyTorch's values and errors in each randomness mode."""

import functools
import json
import subprocess
import sys
import warnings

import pytest

import ts

torch = pytest.importorskip("torch")

IN_PLACE = {
    "uniform_": (), "normal_": (), "bernoulli_": (0.5,), "exponential_": (), "cauchy_": (), "geometric_": (0.5,),
    "log_normal_": (), "random_": (10,),
}  # fmt: skip
CASES = {
    "dropout": lambda m, x: m.nn.functional.dropout(x, 0.5),
    "dropout of one": lambda m, x: m.nn.functional.dropout(m.ones(8), 0.5) + x * 0,
    "dropout in place": lambda m, x: m.nn.functional.dropout(x * 1, 0.5, inplace=True),
    "dropout of one in place": lambda m, x: m.nn.functional.dropout(m.ones(8), 0.5, inplace=True),
    "dropout of nothing": lambda m, x: m.nn.functional.dropout(x, 0.0),
    "dropout of all": lambda m, x: m.nn.functional.dropout(x, 1.0),
    "alpha_dropout": lambda m, x: m.nn.functional.alpha_dropout(x, 0.5, training=True),
    "alpha_dropout of one": lambda m, x: m.nn.functional.alpha_dropout(m.ones(8), 0.5, training=True),
    "feature_alpha_dropout": lambda m, x: m.nn.functional.feature_alpha_dropout(x.view(4, 2), 0.5, training=True),
    "feature_dropout": lambda m, x: m.feature_dropout(x.view(4, 2), 0.5, True),
    "dropout2d": lambda m, x: m.nn.functional.dropout2d(x.view(1, 2, 2, 2), 0.5, True),
    "native_dropout": lambda m, x: m.native_dropout(x, 0.5, True)[0],
    "attention": lambda m, x: m.nn.functional.scaled_dot_product_attention(
        x.view(1, 4, 2), x.view(1, 4, 2), x.view(1, 4, 2), dropout_p=0.5
    ),
    "gradient of dropout": lambda m, x: m.func.grad(lambda y: m.nn.functional.dropout(y, 0.5).sum())(x),
    "gumbel_softmax": lambda m, x: m.nn.functional.gumbel_softmax(x),
    "uniform_ of one": lambda m, x: m.ones(8).uniform_(),
    "bernoulli_ by a tensor": lambda m, x: x.clone().bernoulli_(x * 0.5),
    "bernoulli_ of one by a tensor": lambda m, x: m.ones(8).bernoulli_(x * 0.5),
    "bernoulli": lambda m, x: m.bernoulli(x * 0.5),
    "bernoulli of one": lambda m, x: m.bernoulli(m.ones(8) * 0.5),
    "rand_like": lambda m, x: m.rand_like(x),
    "randn_like of one": lambda m, x: m.randn_like(m.ones(8)),
    "randint_like": lambda m, x: m.randint_like(x, 10),
    "rand": lambda m, x: m.rand(8),
    "randperm": lambda m, x: m.randperm(8),
    "normal": lambda m, x: m.normal(x, x),
    "multinomial": lambda m, x: m.multinomial(x, 3),
    **{
        name: lambda m, x, name=name, args=args: getattr(x.clone(), name)(*args)
        for name, args in IN_PLACE.items()
    },
}  # fmt: skip
MODES = ["error", "same", "different"]
OTHERWISE_DRAWN = {"multinomial", "normal", "randperm", "dropout of one", "bernoulli of one"}


def outcome(m, name, how):
    """Return the values, or the error message."""
    m.manual_seed(3)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return m.vmap(lambda x: CASES[name](m, x), randomness=how)(m.ones(3, 8)).tolist()
    except Exception as error:
        return type(error).__name__, str(error)


@functools.cache
def outcomes_of_torch():
    """Return PyTorch's outcomes as {"name how": outcome}, from a new process.

    In a process that ran other tests, PyTorch's `vmap` may ignore the randomness mode.
    """
    run = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)
    return {
        key: tuple(value) if isinstance(value[0], str) else value for key, value in json.loads(run.stdout).items()
    }


@pytest.mark.parametrize("how", MODES)
@pytest.mark.parametrize("name", CASES)
def test_each_mode_equals_pytorch(name, how):
    """Each randomness mode draws PyTorch's masks from a seed, or raises its error."""
    got, want = outcome(ts, name, how), outcomes_of_torch()[f"{name} {how}"]
    if name in OTHERWISE_DRAWN and how == "different" and not isinstance(want, tuple):
        assert len(got) == len(want) and len({str(x) for x in got}) == len({str(x) for x in want})
    elif isinstance(want, tuple):
        assert got == want
    else:
        assert not isinstance(got, tuple), got
        assert torch.allclose(torch.tensor(got), torch.tensor(want), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    print(json.dumps({f"{name} {how}": outcome(torch, name, how) for name in CASES for how in MODES}))
