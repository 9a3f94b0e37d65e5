"""Modules of PyTorch whose objects `ts` keeps elsewhere: they import, and have these names.

from ts.distributions.normal import Normal          the one of `ts.distributions`
"""

from __future__ import annotations

import importlib
import importlib.abc
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

# By the module that has the objects: PyTorch's modules, and the names in each.
_ROWS: Final = {
    "": {"storage": "TypedStorage UntypedStorage"},
    "cpu.amp": {"cpu.amp.autocast_mode": "autocast", "cpu.amp.grad_scaler": "GradScaler"},
    "cuda.amp": {
        "cuda.amp.autocast_mode": "autocast custom_bwd custom_fwd",
        "cuda.amp.grad_scaler": "GradScaler",
    },
    "distributions": {
        "distributions.bernoulli": "Bernoulli",
        "distributions.beta": "Beta",
        "distributions.binomial": "Binomial",
        "distributions.cauchy": "Cauchy",
        "distributions.chi2": "Chi2",
        "distributions.continuous_bernoulli": "ContinuousBernoulli",
        "distributions.dirichlet": "Dirichlet",
        "distributions.exponential": "Exponential",
        "distributions.fishersnedecor": "FisherSnedecor",
        "distributions.gamma": "Gamma",
        "distributions.generalized_pareto": "GeneralizedPareto",
        "distributions.geometric": "Geometric",
        "distributions.gumbel": "Gumbel",
        "distributions.half_cauchy": "HalfCauchy",
        "distributions.half_normal": "HalfNormal",
        "distributions.independent": "Independent",
        "distributions.inverse_gamma": "InverseGamma",
        "distributions.kumaraswamy": "Kumaraswamy",
        "distributions.laplace": "Laplace",
        "distributions.lkj_cholesky": "LKJCholesky",
        "distributions.log_normal": "LogNormal",
        "distributions.logistic_normal": "LogisticNormal",
        "distributions.lowrank_multivariate_normal": "LowRankMultivariateNormal",
        "distributions.mixture_same_family": "MixtureSameFamily",
        "distributions.multinomial": "Multinomial",
        "distributions.multivariate_normal": "MultivariateNormal",
        "distributions.negative_binomial": "NegativeBinomial",
        "distributions.normal": "Normal",
        "distributions.one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
        "distributions.pareto": "Pareto",
        "distributions.poisson": "Poisson",
        "distributions.studentT": "StudentT",
        "distributions.transformed_distribution": "TransformedDistribution",
        "distributions.uniform": "Uniform",
        "distributions.von_mises": "VonMises",
        "distributions.weibull": "Weibull",
        "distributions.wishart": "Wishart",
    },
    "distributions.relaxed": {
        "distributions.relaxed_bernoulli": "LogitRelaxedBernoulli RelaxedBernoulli",
        "distributions.relaxed_categorical": "ExpRelaxedCategorical RelaxedOneHotCategorical",
    },
    "func": {"nn.utils.stateless": "functional_call"},
    "profiler": {
        "profiler.profiler": "ProfilerAction profile schedule supported_activities tensorboard_trace_handler",
    },
}

ALIASES: Final = {
    path: (home, tuple(names.split())) for home, rows in _ROWS.items() for path, names in rows.items()
}


class _Loader(importlib.abc.Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        home, _ = ALIASES[spec.name.removeprefix("ts.")]
        return ModuleType(spec.name, f"A module of PyTorch; what is in it comes from `{_module(home)}`.")

    def exec_module(self, module: ModuleType) -> None:
        home, names = ALIASES[module.__name__.removeprefix("ts.")]
        place = importlib.import_module(_module(home))
        vars(module).update({name: getattr(place, name) for name in names}, __all__=list(names))


def _module(path: str) -> str:
    return f"ts.{path}" if path else "ts"


def spec_of(path: str) -> ModuleSpec:
    """How to import an alias, by its path: `distributions.normal`."""
    return ModuleSpec(_module(path), _Loader())
