"""Adaptive softmax, a hierarchical softmax with frequent classes in the head and rare classes in clusters.

Input: a tensor of shape (N, in_features) or (in_features), and target classes. Output: the log probability of
each target class, and the loss, which is the mean of the negative log probabilities.

Classes are numbered by decreasing frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import ts
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts.nn import functional as F
from ts.nn.modules.container import ModuleList, Sequential
from ts.nn.modules.linear import Linear
from ts.nn.modules.module import Module


class _ASMoutput(NamedTuple):
    """Result of `AdaptiveLogSoftmaxWithLoss`: log probabilities of the targets, and the loss."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Adaptive softmax: log likelihood for many classes, most of which are rare."""

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        limits = list(cutoffs)
        if not limits:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            limits != sorted(set(limits))
            or min(limits) <= 0
            or max(limits) > n_classes - 1
            or any(int(c) != c for c in limits)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                "where each value is between 1 and n_classes-1"
            )
        factory_kwargs: dict[str, Any] = {"device": device, "dtype": dtype}
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*limits, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **factory_kwargs)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:], strict=False)):
            width = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, **factory_kwargs),
                    Linear(width, high - low, bias=False, **factory_kwargs),
                )
            )

    def reset_parameters(self) -> None:
        """Reinitialize the parameters with random numbers."""
        self.head.reset_parameters()
        for cluster in self.tail:
            layer: Any
            for layer in cluster.children():
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        if target_.dim() == 1:
            if input_.shape[0] != target_.shape[0]:
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input_.dim() != 2:
                raise RuntimeError(
                    f"1D target tensor expects 2D input tensors, but found inputs with size {input_.size()}"
                )
        elif target_.dim() == 0:
            if input_.dim() != 1:
                raise RuntimeError(
                    f"0D target tensor expects 1D input tensors, but found inputs with size {input_.size()}"
                )
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        batched = target_.dim() > 0
        input: Tensor = input_ if batched else input_.unsqueeze(0)
        target: Any = target_ if batched else target_.unsqueeze(0)
        lowest, highest = target.min(), target.max()
        if lowest < 0 or highest >= self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{int(lowest)}, {int(highest)}] were found. "
            )
        head = F.log_softmax(self.head(input), dim=1)
        output = ts.gather(head, 1, target.clamp(max=self.shortlist_size - 1).unsqueeze(1)).squeeze(1)
        for i, cluster in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ts.nonzero((target >= low) & (target < high)).squeeze(1)
            if (ts.jit.is_scripting() or current_tracer() is None) and rows.numel() == 0:
                continue
            inside = F.log_softmax(cluster(input.index_select(0, rows)), dim=1)
            cluster_log_prob = ts.gather(
                inside, 1, (target.index_select(0, rows) - low).unsqueeze(1)
            ).squeeze(1)
            output = output.index_copy(0, rows, cluster_log_prob + head[rows, self.shortlist_size + i])
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the log probabilities of all classes (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        head = F.log_softmax(head_output, dim=1)
        log_probs = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            column = self.shortlist_size + i
            log_probs.append(F.log_softmax(cluster(input), dim=1) + head[:, column : column + 1])
        return ts.cat(log_probs, 1)

    def predict(self, input: Tensor) -> Tensor:
        """Return the most likely class of each row."""
        head_output = self.head(input)
        best = head_output.argmax(dim=1)
        rows = ts.nonzero(best >= self.shortlist_size).squeeze(1)
        if (ts.jit.is_scripting() or current_tracer() is None) and rows.numel() == 0:
            return best
        rest = self._get_full_log_prob(input.index_select(0, rows), head_output.index_select(0, rows)).argmax(
            dim=1
        )
        return best.index_copy(0, rows, rest)
