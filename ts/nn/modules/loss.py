"""Loss functions: comparison of predictions with targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn._reduction import legacy_get_string
from ts.nn.modules.distance import PairwiseDistance
from ts.nn.modules.hyperparameters import hyperparameters
from ts.nn.modules.module import Module


class _Loss(Module):
    __constants__ = ["reduction"]
    reduction: str

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = reduction
        _Loss.__post_init__(self, size_average, reduce)

    def __post_init__(self, size_average: bool | None = None, reduce: bool | None = None) -> None:
        if size_average is not None or reduce is not None:
            self.reduction = legacy_get_string(size_average, reduce)


class _WeightedLoss(_Loss):
    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)

    def __post_init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None
    ) -> None:
        super().__post_init__(size_average, reduce)
        self.weight = weight


class L1Loss(_Loss):
    """Absolute error |x - y|, averaged by default."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Squared error (x - y)^2, averaged by default."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """Logistic loss log(1 + exp(-y x)) for targets y of 1 and -1, averaged by default."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """Multi-label margin loss: the scores of target classes should exceed all others by a margin."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


@hyperparameters
class NLLLoss(_WeightedLoss):
    """Negative log likelihood of the target classes."""

    weight: InitVar[Tensor | None] = None
    size_average: InitVar[bool | None] = None
    ignore_index: int = -100
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(
            input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class NLLLoss2d(NLLLoss):
    """NLLLoss under its old name for images."""


@hyperparameters
class CrossEntropyLoss(_WeightedLoss):
    """Cross entropy of logits: log_softmax followed by NLLLoss."""

    weight: InitVar[Tensor | None] = None
    size_average: InitVar[bool | None] = None
    ignore_index: int = -100
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    label_smoothing: float = 0.0

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


@hyperparameters
class PoissonNLLLoss(_Loss):
    """Negative log likelihood of Poisson distributed targets."""

    log_input: bool = True
    full: bool = False
    size_average: InitVar[bool | None] = None
    eps: float = 1e-8
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


@hyperparameters(kw_only=True)
class GaussianNLLLoss(_Loss):
    """Negative log likelihood of normally distributed targets."""

    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


@hyperparameters
class KLDivLoss(_Loss):
    """Kullback-Leibler divergence."""

    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    log_target: bool = False

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """Binary cross entropy of probabilities."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Binary cross entropy of logits."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)
        self.weight: Tensor | None
        self.pos_weight: Tensor | None

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Binary cross entropy of logits, averaged over the classes."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


@hyperparameters
class HingeEmbeddingLoss(_Loss):
    """Loss of x for target 1, and of max(0, margin - x) for target -1."""

    margin: float = 1.0
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


@hyperparameters
class SmoothL1Loss(_Loss):
    """Absolute error, which is quadratic below `beta`."""

    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    beta: float = 1.0

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


@hyperparameters
class HuberLoss(_Loss):
    """Huber loss: `delta` times SmoothL1Loss with `beta=delta`."""

    reduction: str = "mean"
    delta: float = 1.0

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


@hyperparameters
class CosineEmbeddingLoss(_Loss):
    """Cosine embedding loss of pairs labelled similar (1) or dissimilar (-1)."""

    margin: float = 0.0
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


@hyperparameters
class MarginRankingLoss(_Loss):
    """Margin ranking loss of pairs: max(0, -y (x1 - x2) + margin)."""

    margin: float = 0.0
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


@hyperparameters
class MultiMarginLoss(_WeightedLoss):
    """Multi-class margin loss (hinge loss): the target's score should exceed all other scores by a margin."""

    p: int = 1
    margin: float = 1.0
    weight: InitVar[Tensor | None] = None
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


@hyperparameters
class TripletMarginLoss(_Loss):
    """Triplet margin loss (triplet loss) of anchor, positive and negative examples."""

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with a user-defined distance."""

    __constants__ = ["margin", "swap", "reduction"]
    margin: float
    swap: bool

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function: Any = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


@hyperparameters
class CTCLoss(_Loss):
    """Connectionist temporal classification loss of unaligned sequences."""

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor
    ) -> Tensor:
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
