"""Recurrent neural networks (RNN, LSTM, GRU): layers for sequences, and cells for single time steps."""

from __future__ import annotations

import math
import warnings
from dataclasses import InitVar
from typing import TYPE_CHECKING, Any, ClassVar

import ts
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts.nn import init
from ts.nn.modules.hyperparameters import hyperparameters
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter
from ts.nn.utils.rnn import PackedSequence

if TYPE_CHECKING:
    from typing import overload as overload_method
else:
    from ts.frontend.overloads import declare_overload_method as overload_method

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def sequences(batch_sizes: Tensor) -> int:
    """Return the number of packed sequences: the batch size of the first time step.

    During tracing, return the number as a tensor. As an int, it would be a constant in the trace.
    """
    if not ts.jit.is_scripting():  # a nested `if`, because scripts would compile both operands of `and`
        if current_tracer() is not None:
            return batch_sizes[0]  # type: ignore[return-value]
    return int(batch_sizes[0])


@hyperparameters
class RNNBase(Module):
    """Base class of recurrent layers, with the weights of each layer and direction."""

    __constants__: ClassVar[list[str]]
    __jit_unused_properties__ = ["all_weights"]

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int = 1
    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False
    proj_size: int = 0
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None

    def __post_init__(self, device: Any, dtype: Any) -> None:
        self._check_hyperparameters()
        self.dropout = float(self.dropout)
        self._all_weights: list[list[str]] = []
        directions = 2 if self.bidirectional else 1
        rows = _GATES[self.mode] * self.hidden_size
        width = self.proj_size or self.hidden_size
        for layer in range(self.num_layers):
            columns = self.input_size if layer == 0 else width * directions
            shapes = {"weight_ih": (rows, columns), "weight_hh": (rows, width)}
            if self.bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}  # type: ignore[dict-item]
            if self.proj_size:
                shapes["weight_hr"] = (self.proj_size, self.hidden_size)
            for suffix in ("", "_reverse")[:directions]:
                names = [f"{name}_l{layer}{suffix}" for name in shapes]
                for name, shape in zip(names, shapes.values(), strict=True):
                    setattr(self, name, Parameter(ts.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(names)
        self.reset_parameters()
        self.flatten_parameters()

    def _check_hyperparameters(self) -> None:
        if isinstance(self.dropout, bool) or not 0 <= self.dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being "
                "zeroed"
            )
        if self.dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={self.dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name, size in (("input_size", self.input_size), ("hidden_size", self.hidden_size)):
            if not isinstance(size, int):
                raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
        if self.input_size <= 0:
            raise ValueError("input_size must be greater than zero")
        if self.hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    def flatten_parameters(self) -> None:
        """Update `_flat_weights`, the list of all weights that is passed to the recurrent operators."""
        weights = [weight for layer in self.all_weights for weight in layer]
        self._flat_weights: list[Any]
        self.__dict__["_flat_weights"] = weights  # bypasses `__setattr__`, which would register parameters

    def reset_parameters(self) -> None:
        """Reinitialize the parameters with random numbers."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """Weights, one list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if "_flat_weights" in self.__dict__ and any(name in names for names in self._all_weights):
            self.flatten_parameters()

    def __deepcopy__(self, memo: dict[int, Any]) -> RNNBase:
        import copy

        clone = type(self).__new__(type(self))
        memo[id(self)] = clone
        clone.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items()})
        clone.flatten_parameters()
        return clone

    def check_input(self, input: Tensor) -> None:
        """Raise an error if the dtype or the number of features of the input does not fit the weights.

        Update `_flat_weights` first.
        """
        if not ts.jit.is_scripting():
            # needed, because `functional_call` and parametrizations replace weights but not `_flat_weights`
            self.flatten_parameters()
        dtype = self._flat_weights[0].dtype
        if input.dtype != dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). "
                f"Convert input: input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, "
                f"got {input.size(-1)}"
            )

    def state_size(self, batch: int, width: int) -> tuple[int, int, int]:
        """Return the shape of a state: (layers * directions, batch, width)."""
        return self.num_layers * (2 if self.bidirectional else 1), batch, width

    def check_hidden_size(
        self, hx: Tensor, expected: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Raise RuntimeError if a state has another shape than expected."""
        if hx.size() != expected:
            raise RuntimeError(msg.format(expected, list(hx.size())))

    def extra_repr(self) -> str:
        arguments = f"{self.input_size}, {self.hidden_size}"
        usual = (
            ("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0.0),
            ("bidirectional", False),
        )  # fmt: skip
        for name, default in usual:
            if getattr(self, name) != default:
                arguments += f", {name}={getattr(self, name)}"
        return arguments


class _SingleStateRNN(RNNBase):
    """Base class of recurrent layers with one state tensor: RNN and GRU."""

    def run(self, data: Tensor, batch_sizes: Tensor | None, hx: Tensor) -> tuple[Tensor, Tensor]:
        """Run all layers on padded sequences, or with `batch_sizes` on packed sequences."""
        raise NotImplementedError

    def padded(self, input: Tensor, hx: Tensor | None) -> tuple[Tensor, Tensor]:
        """Run all layers on sequences of shape (time, features) or (time, batch, features)."""
        batched = input.dim() == 3
        if not batched:
            if input.dim() != 2:
                raise ValueError(
                    f"{self.kind}: Expected input to be 2D or 3D, got {input.dim()}D{self.noun} instead"
                )
            input = input.unsqueeze(0 if self.batch_first else 1)
        self.check_input(input)
        size = self.state_size(input.size(0 if self.batch_first else 1), self.hidden_size)
        if hx is None:
            state = ts.zeros(size, dtype=input.dtype, device=input.device)
        else:
            if batched and hx.dim() != 3:
                raise RuntimeError(
                    f"For batched 3-D input, hx should also be 3-D but got {hx.dim()}-D tensor"
                )
            if not batched and hx.dim() != 2:
                raise RuntimeError(
                    f"For unbatched 2-D input, hx should also be 2-D but got {hx.dim()}-D tensor"
                )
            state = hx if batched else hx.unsqueeze(1)
            self.check_hidden_size(state, size)
        output, hidden = self.run(input, None, state)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            hidden = hidden.squeeze(1)
        return output, hidden

    def packed(self, input: PackedSequence, hx: Tensor | None) -> tuple[PackedSequence, Tensor]:
        """Run all layers on packed sequences.

        `hx` and the returned state have the sequences in their original order, not in packed order.
        """
        data, batch_sizes, order, unsorted_indices = input
        self.check_input(data)
        size = self.state_size(sequences(batch_sizes), self.hidden_size)
        if hx is None:
            state = ts.zeros(size, dtype=data.dtype, device=data.device)
        else:
            self.check_hidden_size(hx, size)
            state = hx if order is None else hx.index_select(1, order)
        output, hidden = self.run(data, batch_sizes, state)
        if unsorted_indices is not None:
            hidden = hidden.index_select(1, unsorted_indices)
        return PackedSequence(output, batch_sizes, order, unsorted_indices), hidden

    @overload_method
    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]: ...

    @overload_method
    def forward(  # noqa: F811
        self, input: PackedSequence, hx: Tensor | None = None
    ) -> tuple[PackedSequence, Tensor]: ...

    def forward(self, input, hx=None):  # type: ignore[no-untyped-def] # noqa: F811
        if isinstance(input, PackedSequence):
            return self.packed(input, hx)
        return self.padded(input, hx)


class RNN(_SingleStateRNN):
    """Elman recurrent network with tanh or ReLU."""

    __constants__ = [*RNNBase.__constants__, "kind", "noun"]
    kind: str
    noun: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        nonlinearity = kwargs.pop("nonlinearity", args[3] if len(args) > 3 else "tanh")
        args = (*args[:3], *args[4:])
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity
        self.kind = "RNN"
        self.noun = " tensor"

    def run(self, data: Tensor, batch_sizes: Tensor | None, hx: Tensor) -> tuple[Tensor, Tensor]:
        """Run all layers on padded sequences, or with `batch_sizes` on packed sequences."""
        if self.mode == "RNN_TANH":
            if batch_sizes is None:
                return ts.rnn_tanh(
                    data, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                    self.bidirectional, self.batch_first,
                )  # fmt: skip
            return ts.rnn_tanh(
                data, batch_sizes, hx, self._flat_weights, self.bias, self.num_layers, self.dropout,
                self.training, self.bidirectional,
            )  # fmt: skip
        if batch_sizes is None:
            return ts.rnn_relu(
                data, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                self.bidirectional, self.batch_first,
            )  # fmt: skip
        return ts.rnn_relu(
            data, batch_sizes, hx, self._flat_weights, self.bias, self.num_layers, self.dropout,
            self.training, self.bidirectional,
        )  # fmt: skip


class GRU(_SingleStateRNN):
    """Gated recurrent unit network."""

    __constants__ = [*RNNBase.__constants__, "kind", "noun"]
    kind: str
    noun: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)
        self.kind = "GRU"
        self.noun = ""

    def run(self, data: Tensor, batch_sizes: Tensor | None, hx: Tensor) -> tuple[Tensor, Tensor]:
        """Run all layers on padded sequences, or with `batch_sizes` on packed sequences."""
        if batch_sizes is None:
            return ts.gru(
                data, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                self.bidirectional, self.batch_first,
            )  # fmt: skip
        return ts.gru(
            data, batch_sizes, hx, self._flat_weights, self.bias, self.num_layers, self.dropout,
            self.training, self.bidirectional,
        )  # fmt: skip


class LSTM(RNNBase):
    """Long short-term memory network."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def state_width(self) -> int:
        """Return the number of features of the hidden state: `proj_size`, or `hidden_size` if it is 0."""
        return self.proj_size if self.proj_size > 0 else self.hidden_size

    def check_states(self, hx: tuple[Tensor, Tensor], batch: int) -> None:
        """Raise RuntimeError if the hidden state or the cell state has an unexpected shape."""
        hidden, cell = self.state_size(batch, self.state_width()), self.state_size(batch, self.hidden_size)
        self.check_hidden_size(hx[0], hidden, "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hx[1], cell, "Expected hidden[1] size {}, got {}")

    def first_state(self, input: Tensor, batch: int) -> list[Tensor]:
        """Return zeros as hidden state and cell state. They are the initial states if `hx` is None."""
        return [
            ts.zeros(self.state_size(batch, width), dtype=input.dtype, device=input.device)
            for width in [self.state_width(), self.hidden_size]
        ]

    def padded(self, input: Tensor, hx: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Run all layers on sequences of shape (time, features) or (time, batch, features)."""
        batched = input.dim() == 3
        if not batched:
            if input.dim() != 2:
                raise ValueError(f"LSTM: Expected input to be 2D or 3D, got {input.dim()}D instead")
            input = input.unsqueeze(0 if self.batch_first else 1)
        self.check_input(input)
        batch = input.size(0 if self.batch_first else 1)
        if hx is None:
            state = self.first_state(input, batch)
        else:
            if batched and (hx[0].dim() != 3 or hx[1].dim() != 3):
                raise RuntimeError(
                    "For batched 3-D input, hx and cx should also be 3-D but got "
                    f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
                )
            if not batched and (hx[0].dim() != 2 or hx[1].dim() != 2):
                raise RuntimeError(
                    "For unbatched 2-D input, hx and cx should also be 2-D but got "
                    f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
                )
            initial_states = hx if batched else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))
            self.check_states(initial_states, batch)
            state = [initial_states[0], initial_states[1]]
        output, hidden, cell = ts.lstm(
            input, state, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
            self.bidirectional, self.batch_first,
        )  # fmt: skip
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            hidden = hidden.squeeze(1)
            cell = cell.squeeze(1)
        return output, (hidden, cell)

    def packed(
        self, input: PackedSequence, hx: tuple[Tensor, Tensor] | None
    ) -> tuple[PackedSequence, tuple[Tensor, Tensor]]:
        """Run all layers on packed sequences.

        `hx` and the returned states have the sequences in their original order, not in packed order.
        """
        data, batch_sizes, order, unsorted_indices = input
        self.check_input(data)
        batch = sequences(batch_sizes)
        if hx is None:
            state = self.first_state(data, batch)
        else:
            self.check_states(hx, batch)
            if order is None:
                state = [hx[0], hx[1]]
            else:
                state = [hx[0].index_select(1, order), hx[1].index_select(1, order)]
        output, hidden, cell = ts.lstm(
            data, batch_sizes, state, self._flat_weights, self.bias, self.num_layers, self.dropout,
            self.training, self.bidirectional,
        )  # fmt: skip
        if unsorted_indices is not None:
            hidden = hidden.index_select(1, unsorted_indices)
            cell = cell.index_select(1, unsorted_indices)
        return PackedSequence(output, batch_sizes, order, unsorted_indices), (hidden, cell)

    @overload_method
    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]: ...

    @overload_method
    def forward(  # noqa: F811
        self, input: PackedSequence, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[PackedSequence, tuple[Tensor, Tensor]]: ...

    def forward(self, input, hx=None):  # type: ignore[no-untyped-def] # noqa: F811
        if isinstance(input, PackedSequence):
            return self.packed(input, hx)
        return self.padded(input, hx)


# ---- cells -----------------------------------------------------------------------------------------


class RNNCellBase(Module):
    """Base class of recurrent cells: weights and biases."""

    __constants__ = ["input_size", "hidden_size", "bias"]
    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Tensor
    weight_hh: Tensor

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(ts.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(ts.empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(
                name, Parameter(ts.empty(rows, device=device, dtype=dtype)) if bias else None
            )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reinitialize the parameters with random numbers."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        arguments = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            arguments += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return arguments if nonlinearity == "tanh" else f"{arguments}, nonlinearity={nonlinearity}"


class RNNCell(RNNCellBase):
    """Single step of an Elman recurrent network."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]
    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            state = ts.zeros([input.size(0), self.hidden_size], dtype=input.dtype, device=input.device)
        else:
            state = hx if batched else hx.unsqueeze(0)
        if self.nonlinearity == "tanh":
            result = ts.rnn_tanh_cell(
                input, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
            )
        elif self.nonlinearity == "relu":
            result = ts.rnn_relu_cell(
                input, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
            )
        else:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return result if batched else result.squeeze(0)


class LSTMCell(RNNCellBase):
    """Single step of an LSTM."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = ts.zeros([input.size(0), self.hidden_size], dtype=input.dtype, device=input.device)
            state = [zeros, zeros]
        else:
            state = [hx[0], hx[1]] if batched else [hx[0].unsqueeze(0), hx[1].unsqueeze(0)]
        hidden, cell = ts.lstm_cell(input, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not batched:
            hidden = hidden.squeeze(0)
            cell = cell.squeeze(0)
        return hidden, cell


class GRUCell(RNNCellBase):
    """Single step of a GRU."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            state = ts.zeros([input.size(0), self.hidden_size], dtype=input.dtype, device=input.device)
        else:
            state = hx if batched else hx.unsqueeze(0)
        result = ts.gru_cell(input, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return result if batched else result.squeeze(0)
