"""Sample arguments for the operators on quantized tensors: packed parameters, scales, windows.

Output: `ROWS`, rows for the table of `tests.samples`: functions from tensor constructors (t, i) to arguments.
"""

import re

from ts._core.dispatch.signature import signature
from ts.ops import packed_params, quantizer, registry

FAMILIES = ("quantizer", "packed_params", "quantized", "quantized_rnn")
LATENT = {"lstm": 4, "gru": 3}  # number of gates of a cell


def on_grid(x):
    return quantizer.round_to_grid(x.float(), quantizer.QuantizationParams(0.01, 0, quantizer.QINT8))


def dimensions(name):
    """Return the number of dimensions of a window operator."""
    match = re.search(r"(\d)d", name)
    return int(match[1]) if match else 2


def convolution(t, name):
    cls = packed_params.Conv3dParams if "3d" in name else packed_params.Conv2dParams
    n = cls.dims
    shape = [2, 2, 1, 3] if "1d" in name else [2, 2] + [3] * n
    window = [[1] * n, [0] * n, [0] * n, [1] * n]
    return cls(on_grid(t(*shape)), None, *window, 1, "transpose" in name)


def linear(t, rows=3, columns=3):
    return packed_params.LinearParams(on_grid(t(rows, columns)), None)


def of_kind(t, i, name, parameter):
    """Return an argument for a parameter of a quantized operator."""
    kind, called = parameter.kind, parameter.name
    n = dimensions(name)
    latent = next((n for key, n in LATENT.items() if key in name), 1)
    if parameter.optional:
        return None
    if called == "b" and kind == "Tensor":
        return t() * 0 + 0.5
    if "LinearPacked" in kind:
        cell = "cell" in name
        return linear(t, 3 * latent if cell else 3)
    if "EmbeddingPacked" in kind:
        return packed_params.EmbeddingParams(on_grid(t(3, 3)))
    if "Conv" in kind:
        return convolution(t, name)
    if "CellParams" in kind:
        layers = linear(t, 3 * latent), linear(t, 3 * latent)
        return [packed_params.CellParams(*layers)]
    if kind == "Tensor":
        return a_tensor(t, i, name, called, n, latent)
    if kind == "Tensor[]":
        state = (1, 2, 3) if "lstm." in name or "gru." in name else (3, 3)
        return [t(*state), t(*state, k=1)]
    if kind == "int[]":
        if called == "normalized_shape":
            return [3]
        return {"padding": [0] * n, "output_padding": [0] * n, "kernel_size": [2] * n}.get(called, [1] * n)
    if kind == "int":
        special = {"axis": 0, "dim": 0, "low": 0, "quant_min": 0, "quant_max": 255, "dtype": quantizer.QUINT8}
        return special.get(called, 1 if called in ("groups", "num_groups", "num_layers") else 10)
    return {"float": 0.1, "bool": False, "Scalar": 0.5, "ScalarType": quantizer.QUINT8, "Any": t(3, 3)}[kind]


def a_tensor(t, i, name, called, n, latent):
    if called in ("indices", "batch_sizes"):
        return 2 + 0 * i(4) if called == "batch_sizes" else i(2, 2)
    if called in ("scale", "scales", "zero_point", "zero_points"):
        each = "channel" in name or name.endswith(".tensors")
        x = t(3 if "channel" in name else 2) if each else t()
        return x.float() * 0 + (0.1 if "scale" in called else 10)
    if "prepack" in name and called in ("weight", "W"):
        window = {1: (3,), 2: (3, 3), 3: (3, 3, 3)}[n]
        return on_grid(t(2, 2, *window) if "conv" in name else t(3, 3))
    if "conv" in name or "pool" in name:
        window = {1: (4,), 2: (4, 4), 3: (4, 4, 4)}[n]
        if called == "qaccum":
            return t(1, 2, 2, 2)
        return t(1, 2, *window)
    if called in ("mean", "var"):
        return t(2)
    if "batch_norm" in name or "group_norm" in name or "instance_norm" in name:
        return t(2, 2, 3, 3)
    if called == "data":
        return t(8, 3)
    if called == "hx":
        return t(1, 2, 3) if "gru." in name else t(3, 3)
    if called.startswith(("b_", "bias_")):
        return t(3 * latent)
    if name.startswith("aten::quantized_"):
        return t(4, 2, 3)
    if name.startswith("quantized::prelu") and called == "weight":
        return t(1)
    known = "q_" in name or "int_repr" in name
    if not known:
        return t(3, 3)
    if "channel" in name:
        scales = t(3).float() * 0 + 0.1
        return quantizer.round_to_grid(t(3, 3).float(), quantizer.QuantizationParams(scales, scales * 0, quantizer.QUINT8, 0))
    return on_grid(t(3, 3))


def row(record):
    if record.key == "quantized::clamp":
        return lambda t, i: [t(3, 3), 0.2, 0.8]

    def make(t, i):
        parameters = signature(record.schema_text).parameters
        return [p.default if p.has_default else of_kind(t, i, record.key, p) for p in parameters]

    return make


ROWS = {
    r.key.removeprefix("aten::"): row(r) for r in registry.records() if r.family in FAMILIES and not r.variant
}
