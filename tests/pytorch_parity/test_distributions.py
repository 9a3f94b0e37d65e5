"""Distributions, divergences, transforms and constraints have PyTorch's numbers, samples by seed, and errors."""

import functools

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
import ts.distributions.constraint_registry  # noqa: E402

T = torch.tensor


@pytest.fixture(autouse=True)
def _validate_arguments():
    """Restore PyTorch's default, which an import of its compiler in other tests changes."""
    torch.distributions.Distribution.set_default_validate_args(True)


FACTOR = T([[1.0, 0.0], [0.5, 2.0]])
ROWS = T([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
ONE, TWO = T([1.0, 4.0]), T([0.5, 2.0])

# A distribution is its name, arguments and keyword arguments; arguments may be distributions.
NORMALS = ("Normal", (torch.arange(12.0).view(2, 2, 3), 1.0), {})
SPECS = [
    ("Bernoulli", (T([0.2, 0.9]),), {}), ("Bernoulli", (), {"logits": T([-5.0, 0.9])}),
    ("Beta", (ONE, TWO), {}), ("Binomial", (T([3.0, 10.0]), T([0.2, 0.7])), {}), ("Binomial", (5,), {"logits": TWO}),
    ("Categorical", (ROWS,), {}), ("Cauchy", (ONE, TWO), {}), ("Chi2", (ONE,), {}),
    ("ContinuousBernoulli", (T([0.1, 0.5]),), {}), ("ContinuousBernoulli", (), {"logits": T([0.0, 0.8])}),
    ("Dirichlet", (ROWS * 5,), {}), ("Exponential", (ONE,), {}), ("FisherSnedecor", (T([1.0, 5.0]), T([6.0, 3.0])), {}),
    ("Gamma", (ONE, TWO), {}), ("Geometric", (T([0.3, 0.9]),), {}), ("Geometric", (), {"logits": TWO}),
    ("Gumbel", (ONE, TWO), {}), ("Gumbel", (1.0, 2.0), {}), ("HalfCauchy", (ONE,), {}), ("HalfNormal", (ONE,), {}),
    ("InverseGamma", (T([1.5, 4.0]), TWO), {}), ("Kumaraswamy", (ONE, TWO), {}), ("LKJCholesky", (3, TWO), {}),
    ("LKJCholesky", (2,), {}), ("Laplace", (ONE, TWO), {}), ("LogNormal", (TWO, TWO / 2), {}),
    ("LogisticNormal", (ONE, TWO), {}), ("LowRankMultivariateNormal", (ONE, T([[1.0], [2.0]]), TWO), {}),
    ("LowRankMultivariateNormal", (torch.ones(3, 2), torch.arange(4.0).view(2, 2) / 4, TWO), {}),
    ("Multinomial", (5, ROWS[0]), {}), ("Multinomial", (4,), {"logits": ROWS}),
    ("MultivariateNormal", (ONE,), {"scale_tril": FACTOR}),
    ("MultivariateNormal", (ONE.expand(3, 2),), {"covariance_matrix": FACTOR @ FACTOR.T}),
    ("NegativeBinomial", (T([3.0, 5.0]), T([0.2, 0.6])), {}), ("NegativeBinomial", (4,), {"logits": TWO}),
    ("Normal", (ONE, TWO), {}), ("Normal", (1.0, 2.0), {}), ("OneHotCategorical", (ROWS,), {}),
    ("OneHotCategoricalStraightThrough", (ROWS,), {}), ("Pareto", (ONE, T([1.5, 2.5])), {}), ("Poisson", (ONE,), {}),
    ("RelaxedBernoulli", (T(0.7), T([0.2, 0.6])), {}), ("RelaxedOneHotCategorical", (T(0.7), ROWS), {}),
    ("StudentT", (T([1.5, 2.5]), ONE, TWO), {}), ("StudentT", (3.0,), {}), ("Uniform", (TWO, T([3.0, 4.0])), {}),
    ("VonMises", (T([1.5, -2.5]), T([3.0, 0.4])), {}), ("Weibull", (ONE, TWO), {}),
    ("GeneralizedPareto", (ONE, TWO, T([0.3, 0.7])), {}), ("GeneralizedPareto", (ONE, TWO, T([0.0, -1.0])), {}),
    ("GeneralizedPareto", (1.0, 2.0, -0.4), {}), ("Wishart", (T([3.0, 4.5]),), {"covariance_matrix": FACTOR @ FACTOR.T}),
    ("Wishart", (5.0,), {"scale_tril": FACTOR}), ("Wishart", (T(4.0),), {"precision_matrix": FACTOR @ FACTOR.T}),
    ("Independent", (NORMALS, 1), {}), ("MixtureSameFamily", (("Categorical", (TWO,), {}), ("Normal", (ONE, TWO), {})), {}),
    ("MixtureSameFamily", (("Categorical", (TWO.expand(2, 2),), {}), ("Independent", (NORMALS, 1), {})), {}),
]  # fmt: skip


def converted(value, library):
    """Convert a number, tensor or distribution to a library."""
    if isinstance(value, tuple):
        return make_distribution(value, library)
    if isinstance(value, torch.Tensor) and library is ts:
        return ts.tensor(value.tolist(), dtype=getattr(ts, str(value.dtype).removeprefix("torch.")))
    return value


def make_distribution(spec, library):
    """Return the distribution of a library for a specification."""
    name, args, kwargs = spec
    kwargs = {key: converted(value, library) for key, value in kwargs.items()}
    return getattr(library.distributions, name)(*(converted(arg, library) for arg in args), **kwargs)


def outcome(function, *args):
    """Return the result of a function, or its error."""
    try:
        return function(*args)
    except Exception as error:
        return error


def check_same(ours, theirs, tolerance=2e-5):
    """Check equal shapes and approximately equal elements, equal values, or errors of one class."""
    if isinstance(theirs, torch.Tensor):
        assert not isinstance(ours, Exception), ours
        assert tuple(ours.shape) == tuple(theirs.shape)
        ours = torch.tensor(ours.tolist(), dtype=theirs.dtype)
        torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)
    elif isinstance(theirs, Exception):
        assert type(ours) is type(theirs), ours
    else:
        assert ours == theirs


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec[0])
def test_distribution(spec):
    ours, theirs = make_distribution(spec, ts), make_distribution(spec, torch)
    torch.manual_seed(3)
    x = theirs.sample((4,))
    p = torch.rand(x.shape)
    larger = (3, *theirs.batch_shape)

    def same(function, tolerance=2e-5):
        torch.manual_seed(4), ts.manual_seed(4)
        check_same(outcome(function, ours, ts), outcome(function, theirs, torch), tolerance)

    for name in (
        "mean",
        "variance",
        "stddev",
        "batch_shape",
        "event_shape",
        "has_rsample",
        "has_enumerate_support",
    ):
        same(lambda d, _, name=name: getattr(d, name))
    if spec[0] != "Kumaraswamy":  # NaN in PyTorch
        same(lambda d, _: d.mode)
    for name in ("entropy", "perplexity", "enumerate_support"):
        same(lambda d, _, name=name: getattr(d, name)())
    same(lambda d, _: d.enumerate_support(False))
    same(lambda d, _: d.sample((4,)), 1e-4)
    same(lambda d, _: d.rsample((2, 3)), 1e-4)
    same(lambda d, library: d.log_prob(converted(x, library)))
    same(lambda d, library: d.cdf(converted(x, library)))
    same(lambda d, library: d.icdf(converted(p, library)), 1e-3)
    same(lambda d, library: d.support.check(converted(x, library)))
    same(lambda d, _: (d.support.event_dim, d.support.is_discrete))
    same(lambda d, _: (type(d).support.event_dim, type(d).support.is_discrete))
    same(lambda d, _: d.expand(larger).mean)
    same(lambda d, _: d.expand(larger).sample((2,)), 1e-4)
    same(lambda d, library: d.expand(larger).log_prob(converted(x[:1], library)))
    for wrong in (-3.5, float("nan")):
        same(lambda d, library, wrong=wrong: d.log_prob(library.full(x.shape, wrong)))
    same(lambda d, library: d.log_prob(library.ones(7, 5)))
    assert repr(ours) == repr(theirs)


def test_exponential_families():
    """The exponential family classes equal PyTorch's, with their parameters and entropies."""
    for spec in SPECS:
        ours, theirs = make_distribution(spec, ts), make_distribution(spec, torch)
        family, their_family = (library.distributions.ExponentialFamily for library in (ts, torch))
        assert isinstance(ours, family) == isinstance(theirs, their_family), spec
        if isinstance(ours, family):
            params = ours._natural_params
            for param, wanted in zip(params, theirs._natural_params, strict=True):
                check_same(param, wanted)
            check_same(ours._log_normalizer(*params), theirs._log_normalizer(*theirs._natural_params))
            wanted = outcome(their_family.entropy, theirs)
            check_same(outcome(family.entropy, ours), wanted.detach() if isinstance(wanted, torch.Tensor) else wanted, 1e-4)
            check_same(outcome(lambda: ours._mean_carrier_measure), outcome(lambda: theirs._mean_carrier_measure))


def test_divergence_by_gradients_equals_the_formula():
    """The divergence computed by gradients of the log normalizer equals the formula."""
    from ts.distributions.kl import _KL_REGISTRY

    by_gradients = _KL_REGISTRY[(ts.distributions.ExponentialFamily,) * 2]
    loc = ts.tensor([1.0, 4.0], requires_grad=True)
    p, q = ts.distributions.Normal(loc, 2.0), ts.distributions.Normal(0.5, ts.tensor([1.0, 3.0]))
    (wanted,) = ts.autograd.grad(ts.distributions.kl_divergence(p, q).sum(), loc)
    (given,) = ts.autograd.grad(by_gradients(p, q).sum(), loc)
    assert ts.allclose(given, wanted) and ts.allclose(by_gradients(p, q), ts.distributions.kl_divergence(p, q))
    p = ts.distributions.Normal(0.0, 1.0)
    assert not by_gradients(p, q).requires_grad and not ts.distributions.ExponentialFamily.entropy(p).requires_grad


def test_divergences_of_wishart():
    """Divergences of single Wishart distributions equal PyTorch's; batched ones are computed per element,
    while PyTorch sums over the batch."""
    degrees, other = [3.0, 4.5], ("Wishart", (T(4.0),), {"covariance_matrix": torch.eye(2)})
    each = []
    for df in degrees:
        spec = ("Wishart", (T(df),), {"scale_tril": FACTOR})
        wanted = torch.distributions.kl_divergence(make_distribution(spec, torch), make_distribution(other, torch)).detach()
        check_same(ts.distributions.kl_divergence(make_distribution(spec, ts), make_distribution(other, ts)), wanted, 1e-4)
        each.append(float(wanted))
    batch = make_distribution(("Wishart", (T(degrees),), {"scale_tril": FACTOR}), ts)
    check_same(ts.distributions.kl_divergence(batch, make_distribution(other, ts)), T(each), 1e-4)


def test_divergence_of_different_families_is_rejected():
    specs = [("Normal", (0.0, 1.0), {}), ("Poisson", (T(1.0),), {})]
    ours, theirs = (
        outcome(library.distributions.kl_divergence, *(make_distribution(spec, library) for spec in specs)) for library in (ts, torch)
    )
    assert type(ours) is type(theirs) and str(ours).split() == str(theirs).split()


def test_ambiguous_divergences_warn():
    texts = []
    for library in (ts, torch):
        d = library.distributions
        first, second = type("First", (d.Normal,), {}), type("Second", (d.Normal,), {})
        d.register_kl(first, d.Normal)(lambda p, q: 1)
        d.register_kl(d.Normal, second)(lambda p, q: 2)
        with pytest.warns(RuntimeWarning) as caught:
            assert d.kl_divergence(first(0.0, 1.0), second(0.0, 1.0)) == 1
        texts.append(str(caught[0].message))
    assert texts[0] == texts[1]


def test_every_pair_has_a_divergence():
    """`kl_divergence` has PyTorch's pairs of classes."""
    from torch.distributions.kl import _KL_REGISTRY as theirs

    from ts.distributions.kl import _KL_REGISTRY as ours

    of_library = [{pair for pair in table if "tests" not in pair[0].__module__} for table in (ours, theirs)]
    tables = [{(p.__name__, q.__name__) for p, q in table} for table in of_library]
    assert tables[0] == tables[1]


def kl_pairs():
    """Specifications of two distributions for which PyTorch has a divergence."""
    from torch.distributions import kl

    for first, second in kl._KL_REGISTRY:
        for p in SPECS:
            for q in SPECS:
                if (p[0], q[0]) == (first.__name__, second.__name__):
                    yield p, q


@pytest.mark.parametrize("p,q", list(kl_pairs()), ids=lambda spec: spec[0])
def test_divergence(p, q):
    theirs = outcome(torch.distributions.kl_divergence, make_distribution(p, torch), make_distribution(q, torch))
    ours = outcome(ts.distributions.kl_divergence, make_distribution(p, ts), make_distribution(q, ts))
    if isinstance(theirs, torch.Tensor) and bool(
        theirs.isinf().all()
    ):  # shape of p in PyTorch, broadcast shape in `ts`
        assert bool(ours.isinf().all())
    else:
        check_same(ours, theirs, 1e-4)


TRANSFORMS = {
    "exp": lambda d: d.ExpTransform(),
    "abs": lambda d: d.AbsTransform(),
    "affine": lambda d: d.AffineTransform(1.0, -2.0),
    "affine of vectors": lambda d: d.AffineTransform(1.0, -2.0, event_dim=1),
    "power": lambda d: d.PowerTransform(d.utils.broadcast_all(2.0)[0]),
    "sigmoid": lambda d: d.SigmoidTransform(),
    "tanh": lambda d: d.TanhTransform(),
    "softplus": lambda d: d.SoftplusTransform(),
    "softmax": lambda d: d.SoftmaxTransform(),
    "stick": lambda d: d.StickBreakingTransform(),
    "cholesky": lambda d: d.LowerCholeskyTransform(),
    "definite": lambda d: d.PositiveDefiniteTransform(),
    "correlation": lambda d: d.CorrCholeskyTransform(),
    "nothing": lambda d: d.ComposeTransform([]),
    "composed": lambda d: d.ComposeTransform(
        [d.AffineTransform(0.0, 2.0), d.StickBreakingTransform(), d.ExpTransform()]
    ),
    "independent": lambda d: d.IndependentTransform(d.ExpTransform(), 1),
    "reshaped": lambda d: d.ReshapeTransform((3,), (1, 3)),
    "cat": lambda d: d.CatTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)], dim=-1, lengths=[1, 2]),
    "stack": lambda d: d.StackTransform(
        [d.ExpTransform(), d.AffineTransform(1.0, 2.0), d.TanhTransform()], dim=-1
    ),
    "cat of vectors": lambda d: d.CatTransform([d.StickBreakingTransform()] * 2, dim=0),
    "stack of vectors": lambda d: d.StackTransform([d.ExpTransform(), d.SoftmaxTransform()], dim=0),
    "cdf": lambda d: d.CumulativeDistributionTransform(d.Normal(0.0, 1.0)),
    "to an interval": lambda d: d.biject_to(d.constraints.interval(-1.0, 3.0)),
    "to more": lambda d: d.transform_to(d.constraints.greater_than(2.0)),
    "to less": lambda d: d.transform_to(d.constraints.less_than(2.0)),
    "to probabilities": lambda d: d.transform_to(d.constraints.simplex),
    "to parts": lambda d: d.biject_to(d.constraints.cat([d.constraints.positive, d.constraints.real], 0)),
    "to elements": lambda d: d.biject_to(
        d.constraints.stack([d.constraints.positive, d.constraints.real], 0)
    ),
    "to independent": lambda d: d.biject_to(d.constraints.independent(d.constraints.positive, 1)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transform(name):
    torch.manual_seed(0)
    x = torch.rand(2, 3, 3) if name in ("cholesky", "definite") else torch.rand(2, 3) + 0.1
    pairs = [(TRANSFORMS[name](library.distributions), library) for library in (ts, torch)]

    def same(function):
        check_same(*(outcome(function, transform, converted(x, library)) for transform, library in pairs))

    same(lambda t, x: t(x))
    same(lambda t, x: t.inv(t(x)))
    same(lambda t, x: t.log_abs_det_jacobian(x, t(x)))
    same(lambda t, x: t.inv.log_abs_det_jacobian(t(x), x))
    same(lambda t, x: t.codomain.check(t(x)))
    for attribute in ("sign", "bijective", "event_dim"):
        same(lambda t, x, attribute=attribute: getattr(t, attribute))
        same(lambda t, x, attribute=attribute: getattr(t.inv, attribute))
    same(lambda t, x: (t.domain.event_dim, t.codomain.event_dim, t.domain.is_discrete))
    for shape in [(), (2, 3), (2, 3, 3), (1, 3)]:
        same(lambda t, x, shape=shape: tuple(t.forward_shape(shape)))
        same(lambda t, x, shape=shape: tuple(t.inverse_shape(shape)))
    same(lambda t, x: (t == t, t.inv.inv is t, t.inv == t))
    cached = pairs[0][0].with_cache()
    given = converted(x, ts)
    assert cached(given) is cached(given) and cached.inv(cached(given)) is given


VALUES = [
    T([[1.0, 0.0], [0.5, 0.25]]), T([[1.0, 0.0], [0.0, 1.0]]), torch.zeros(2, 2, 2), T([1.0, -1.0, float("nan")]),
    T([0.0, 1.0]), torch.ones(2, 3), T(2.0), T([[1.0, 2.0], [2.0, 1.0]]), T([[1.0, 0.0], [0.6, 0.8]]),
]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    "boolean corr_cholesky dependent lower_cholesky lower_triangular nonnegative nonnegative_integer one_hot positive "
    "positive_definite positive_integer positive_semidefinite real real_vector simplex square symmetric "
    "unit_interval".split(),
)
def test_constraint(name):
    for value in VALUES:
        checks = (getattr(library.distributions.constraints, name).check for library in (ts, torch))
        ours, theirs = (
            outcome(check, converted(value, library))
            for check, library in zip(checks, (ts, torch), strict=True)
        )
        if isinstance(theirs, Exception):
            assert type(ours) is type(theirs)
        else:
            assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("diagonal", range(-2, 3))
def test_triangles(diagonal):
    x = torch.rand(2, 4, 4)
    (to_vec, to_matrix), (their_vec, their_matrix) = (
        (utils.tril_matrix_to_vec, utils.vec_to_tril_matrix)
        for utils in (ts.distributions.utils, torch.distributions.utils)
    )
    vec = their_vec(x, diagonal)
    check_same(to_vec(converted(x, ts), diagonal), vec)
    check_same(to_matrix(converted(vec, ts), diagonal), their_matrix(vec, diagonal))
    with pytest.raises(ValueError, match="cannot be expressed as the lower triangular part"):
        to_matrix(ts.ones(7), 0)


REJECTED = [
    ("Geometric", (0.0,)), ("Multinomial", (T(3.0), ROWS[0])), ("LKJCholesky", (1,)), ("Bernoulli", ()),
    ("Categorical", (T(0.5),)), ("Binomial", (-1, T(0.5))), ("LowRankMultivariateNormal", (ONE, ONE, ONE)),
    ("LowRankMultivariateNormal", (ONE, torch.ones(3, 1), ONE)), ("TransformedDistribution", (("Normal", (0.0, 1.0), {}), [1])),
    ("Independent", (("Normal", (0.0, 1.0), {}), 1)), ("MixtureSameFamily", (("Normal", (ONE, TWO), {}),) * 2),
    ("MixtureSameFamily", (("Categorical", (ROWS,), {}), ("Normal", (ONE, TWO), {}))),
]  # fmt: skip


@pytest.mark.parametrize("name,args", REJECTED, ids=lambda value: value if isinstance(value, str) else "")
def test_refusal(name, args):
    ours, theirs = (outcome(functools.partial(make_distribution, (name, args, {})), library) for library in (ts, torch))
    assert type(ours) is type(theirs) and str(ours) == str(theirs)
