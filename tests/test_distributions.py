"""Distributions equal their mathematical definitions."""

import math

import pytest

import ts
from ts.distributions import (
    Beta,
    Categorical,
    Dirichlet,
    Distribution,
    Exponential,
    ExponentialFamily,
    ExpTransform,
    Gamma,
    GeneralizedPareto,
    Independent,
    Kumaraswamy,
    Laplace,
    MultivariateNormal,
    Normal,
    Uniform,
    Wishart,
    biject_to,
    constraints,
    kl_divergence,
    register_kl,
)


@pytest.mark.parametrize(
    "d", [Normal(1.0, 2.0), Uniform(-1.0, 3.0), Exponential(2.0), Laplace(0.5, 1.5), Gamma(3.0, 2.0), Beta(2.0, 3.0)]
)
def test_moments_and_entropy_equal_sample_estimates(d):
    ts.manual_seed(0)
    x = d.sample((40000,))
    assert float(x.mean()) == pytest.approx(float(d.mean), abs=0.05)
    assert float(x.var()) == pytest.approx(float(d.variance), abs=0.15)
    assert float(-d.log_prob(x).mean()) == pytest.approx(float(d.entropy()), abs=0.05)


@pytest.mark.parametrize("d", [Normal(1.0, 2.0), Uniform(-1.0, 3.0), Exponential(2.0), Laplace(0.5, 1.5)])
def test_icdf_undoes_cdf(d):
    p = ts.tensor([0.1, 0.4, 0.9])
    assert ts.allclose(d.cdf(d.icdf(p)), p, atol=1e-6)


def test_densities_by_hand():
    assert float(Normal(0.0, 1.0).log_prob(ts.tensor(0.0))) == pytest.approx(-0.5 * math.log(2 * math.pi))
    assert float(Categorical(ts.tensor([1.0, 3.0])).log_prob(ts.tensor(1))) == pytest.approx(math.log(0.75))
    assert float(Dirichlet(ts.ones(3)).log_prob(ts.tensor([0.2, 0.3, 0.5]))) == pytest.approx(math.log(2))


def test_independent_normals_are_a_multivariate_one():
    loc, scale, x = ts.tensor([1.0, 2.0]), ts.tensor([0.5, 3.0]), ts.tensor([[0.0, 1.0], [2.0, 2.0]])
    independent = Independent(Normal(loc, scale), 1)
    multivariate = MultivariateNormal(loc, ts.diag(scale**2))
    assert ts.allclose(independent.log_prob(x), multivariate.log_prob(x), atol=1e-5)
    assert float(kl_divergence(independent, Independent(Normal(0.0 * loc, 1.0), 1))) == pytest.approx(
        float(kl_divergence(multivariate, MultivariateNormal(ts.zeros(2), ts.eye(2)))), rel=1e-5
    )


def test_divergences_of_derived_classes_and_new_pairs():
    class Mine(Normal):
        pass

    assert float(kl_divergence(Mine(0.0, 1.0), Normal(1.0, 1.0))) == pytest.approx(0.5)
    with pytest.raises(NotImplementedError, match="No KL"):
        kl_divergence(Mine(0.0, 1.0), Kumaraswamy(1.0, 1.0))
    with pytest.raises(NotImplementedError, match="different exponential families"):
        kl_divergence(Mine(0.0, 1.0), Dirichlet(ts.ones(2)))

    class Other(Distribution):
        pass

    register_kl(Mine, Other)(lambda p, q: 7)
    assert kl_divergence(Mine(0.0, 1.0), Other()) == 7


def test_entropy_of_a_family_follows_from_its_normalizer():
    class Rate(ExponentialFamily):
        """The exponential distribution, defined by the minimum of an exponential family."""

        _mean_carrier_measure = 0

        def __init__(self, rate):
            self.rate = rate
            super().__init__(rate.shape, validate_args=False)

        @property
        def _natural_params(self):
            return (-self.rate,)

        def _log_normalizer(self, x):
            return -ts.log(-x)

    rates = ts.tensor([0.5, 2.0], requires_grad=True)
    p, q = Rate(rates), Rate(ts.tensor([1.0, 3.0]))
    assert ts.allclose(p.entropy(), Exponential(rates).entropy())
    expected = kl_divergence(Exponential(rates), Exponential(q.rate))
    assert ts.allclose(kl_divergence(p, q), expected)
    (gradient,) = ts.autograd.grad(kl_divergence(p, q).sum(), rates)
    assert ts.allclose(gradient, ts.autograd.grad(expected.sum(), rates)[0])


def test_samples_of_wishart_have_its_moments():
    ts.manual_seed(0)
    covariance = ts.tensor([[2.0, 0.5], [0.5, 1.0]])
    d = Wishart(5.0, covariance)
    x = d.sample((20000,))
    assert ts.allclose(x.mean(0), 5 * covariance, rtol=0.03) and ts.allclose(x.var(0), d.variance, rtol=0.1)
    assert float(-d.log_prob(x).mean()) == pytest.approx(float(d.entropy()), abs=0.05)
    assert float(ExponentialFamily.entropy(d)) != float(d.entropy())  # the carrier measure has a nonzero mean, which PyTorch omits
    factor = ts.tensor([[1.0, 0.0], [0.5, 2.0]], requires_grad=True)
    Wishart(5.0, scale_tril=factor).rsample().sum().backward()
    assert factor.grad is not None and bool(factor.grad.isfinite().all())


def test_tails_of_a_generalized_pareto():
    """A generalized Pareto distribution is exponential for concentration 0 and uniform for -1."""
    x = ts.tensor([0.5, 1.5])
    assert ts.allclose(GeneralizedPareto(0.0, 2.0, 0.0).log_prob(x), Exponential(0.5).log_prob(x))
    assert ts.allclose(GeneralizedPareto(0.0, 2.0, -1.0).cdf(x), Uniform(0.0, 2.0).cdf(x))
    d = GeneralizedPareto(1.0, 2.0, 0.3)
    assert ts.allclose(d.icdf(d.cdf(1 + x)), 1 + x) and ts.allclose(d.log_survival_function(1 + x).exp(), 1 - d.cdf(1 + x))


def test_invalid_parameters_are_named():
    with pytest.raises(ValueError, match=r"parameter scale .* GreaterThan\(lower_bound=0.0\)"):
        Normal(0.0, -1.0)
    assert Normal(0.0, -1.0, validate_args=False).batch_shape == ()


def test_cholesky_ex_names_the_block():
    factor, info = ts.linalg.cholesky_ex(ts.stack([ts.eye(2), ts.tensor([[1.0, 0.0], [0.0, -1.0]])]))
    assert info.tolist() == [0, 2] and factor[0].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(ts.linalg.LinAlgError):
        ts.linalg.cholesky_ex(-ts.eye(2), check_errors=True)


def test_expanded_distributions_share_their_parameters():
    d = Normal(ts.zeros(2), ts.ones(2))
    larger = d.expand((3, 2))
    assert larger.batch_shape == (3, 2) and larger.loc.data_ptr() == d.loc.data_ptr() and d.batch_shape == (2,)
    assert Beta(ts.ones(2), 1.0).expand((4, 2)).concentration0.shape == (4, 2)


def test_users_expand_classes_of_their_own():
    class Shifted(Normal):
        def __init__(self, loc, shift):
            self.shift = shift
            super().__init__(loc, 1.0)

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Shifted, _instance)
            return super().expand(batch_shape, new)

    d = Shifted(ts.zeros(2), 5).expand((3, 2))
    assert (type(d), d.shift, d.batch_shape) == (Shifted, 5, (3, 2))

    class Further(Shifted):
        def __init__(self):
            super().__init__(ts.zeros(2), 6)

    with pytest.raises(NotImplementedError, match="must also define a custom"):
        Further().expand((3, 2))


def test_support_of_custom_distributions_is_optional():
    class Unbounded(Distribution):
        @property
        def support(self):
            raise NotImplementedError

    with pytest.warns(UserWarning, match="does not define `support`"):
        Unbounded()._validate_sample(ts.tensor(1.0))


def test_mode_of_kumaraswamy_is_where_the_density_is_largest():
    d = Kumaraswamy(2.0, 3.0)
    x = ts.linspace(0.001, 0.999, 9981)
    assert float(d.mode) == pytest.approx(float(x[d.log_prob(x).argmax()]), abs=1e-3)


def test_registered_constraints():
    class Even(constraints.Constraint):
        pass

    with pytest.raises(NotImplementedError, match="Cannot transform Even"):
        biject_to(Even())
    biject_to.register(Even, lambda constraint: ExpTransform())
    assert biject_to(Even()) == ExpTransform()
    with pytest.raises(TypeError, match="Constraint subclass or instance"):
        biject_to.register(int)(lambda constraint: ExpTransform())


def test_lazy_properties_are_cached():
    d = Categorical(logits=ts.zeros(4))
    assert "probs" not in vars(d) and d.probs.tolist() == [0.25] * 4 and "probs" in vars(d)
    assert isinstance(Categorical.probs, ts.distributions.utils.lazy_property)


def test_classes_of_constraints_under_pytorch_names():
    constraints = ts.distributions.constraints
    assert isinstance(constraints.greater_than(1), constraints._GreaterThan)
    assert isinstance(constraints.nonnegative_integer, constraints._IntegerGreaterThan)
    assert isinstance(constraints.real, constraints._Real)
    with pytest.raises(AttributeError, match="_Unknown"):
        constraints._Unknown


def test_uniform_with_other_bounds_than_when_it_was_traced():
    def share(x, low, high):
        return ts.distributions.Uniform(low, high).cdf(x)

    traced = ts.jit.trace(share, (ts.tensor(0.5), ts.tensor(0.0), ts.tensor(1.0)))
    assert traced(ts.tensor(3.0), ts.tensor(2.0), ts.tensor(6.0)).item() == 0.25
