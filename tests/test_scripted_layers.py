"""Layers in scripts: recurrent layers, transformers and norms compile with eager results."""

import pytest

import ts
from ts import nn


def sequence():
    ts.manual_seed(0)
    return ts.randn(5, 2, 4)


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_recurrent_layers(kind):
    x = sequence()
    layer = kind(4, 3, num_layers=2, bidirectional=True)
    output, state = ts.jit.script(layer)(x)
    expected_output, expected_state = layer(x)
    ts.testing.assert_close(output, expected_output)
    ts.testing.assert_close(state, expected_state)


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_packed_sequences(kind):
    packed = nn.utils.rnn.pack_padded_sequence(sequence(), ts.tensor([5, 3]))
    layer = kind(4, 3)
    output, _ = ts.jit.script(layer)(packed)
    ts.testing.assert_close(output.data, layer(packed)[0].data)


@pytest.mark.parametrize("masked", [False, True])
def test_transformers(masked):
    x = sequence()
    mask = nn.Transformer.generate_square_subsequent_mask(5) if masked else None
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2, enable_nested_tensor=False).eval()
    ts.testing.assert_close(ts.jit.script(encoder)(x, mask), encoder(x, mask))
    model = nn.Transformer(4, 2, 1, 1, 8).eval()
    ts.testing.assert_close(ts.jit.script(model)(x, x, mask), model(x, x, mask))


def test_local_response_norm():
    layer = nn.LocalResponseNorm(2)
    for shape in ((2, 3, 4), (0, 3, 4)):
        x = ts.ones(shape)
        ts.testing.assert_close(ts.jit.script(layer)(x), layer(x))
