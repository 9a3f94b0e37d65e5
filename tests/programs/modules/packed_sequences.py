"""Sequences of different lengths are packed for a recurrent layer and padded again."""

import ts
from ts import Tensor, nn
from ts.nn.utils.rnn import PackedSequence, pack_sequence, pad_packed_sequence


class States(nn.Module):
    """An LSTM with zero weights, applied to packed sequences."""

    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(1, 2)
        for weight in self.layer.parameters():
            nn.init.zeros_(weight)

    def forward(self, packed: PackedSequence) -> tuple[PackedSequence, tuple[Tensor, Tensor]]:
        return self.layer(packed)


@ts.jit.script
def rows_of(packed: PackedSequence):
    return pad_packed_sequence(packed, batch_first=True)


net = ts.jit.script(States())
packed = pack_sequence([ts.ones(1, 1), ts.full((3, 1), 2.0), ts.zeros(2, 1)], enforce_sorted=False)
rows, lengths = rows_of(packed)
print(rows.flatten(1).tolist())  # expect: [[1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]]
print(lengths.tolist())  # expect: [1, 3, 2]
output, (hidden, cell) = net(packed)
print(output.batch_sizes.tolist(), list(hidden.shape))  # expect: [3, 2, 1] [1, 3, 2]
print(output.data.sum().item(), cell.sum().item())  # expect: 0.0 0.0
