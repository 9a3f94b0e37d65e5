"""Quantized archives written by hand: results of valid archives, and errors for invalid archives."""

import copy
import io
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import ts
from tests.test_archives import rewritten
from tests.untrusted_input.handcrafted_archives import archive, load, module, state, text
from ts.errors import ArchiveError
from ts.ops import packed_params, quantizer, registry
from ts.ops.profiling import RECORD_FUNCTION_TYPE
from ts.ops.rpc_ops import WORKER_INFO

pytestmark = pytest.mark.filterwarnings("ignore:Quantized tensors and operators are emulated")
CLASSES = "__torch__.torch.classes.quantized"
INTEGERS = np.array([[1, -2, 3], [4, 5, -128]], np.int8)
LINEAR = module(
    "return ops.quantized.linear(x, self.p, 0.5, 3)",
    attributes=f"p : {CLASSES}.LinearPackedParamsBase",
    parameters=", x: Tensor",
)


class Name(str):
    """A name in a pickle: module and qualified name, separated by a space."""


def pickle_opcodes(value):
    """Return a value as pickle opcodes; bytes are returned unchanged."""
    match value:
        case bytes():
            return value
        case None:
            return b"N"
        case bool():
            return b"\x88" if value else b"\x89"
        case Name():
            return b"c" + value.replace(" ", "\n").encode() + b"\n"
        case int():
            return b"J" + struct.pack("<i", value)
        case float():
            return b"G" + struct.pack(">d", value)
        case str():
            return text(value)
        case tuple():
            return b"(" + b"".join(map(pickle_opcodes, value)) + b"t"
        case list():
            return b"](" + b"".join(map(pickle_opcodes, value)) + b"e"
    raise TypeError(value)


def called(name, *arguments):
    return pickle_opcodes(Name(name)) + pickle_opcodes(arguments) + b"R"


def pickled_object(name, its_state):
    return pickle_opcodes(Name(name)) + b")\x81" + pickle_opcodes(its_state) + b"b"


def stored(kind, key, numel):
    return pickle_opcodes(("storage", Name(f"torch {kind}"), key, "cpu", numel)) + b"Q"


def tensor(kind, key, *size):
    ones = tuple(int(np.prod(size[i + 1 :])) for i in range(len(size)))
    numel = int(np.prod(size))
    hooks = called("collections OrderedDict")
    return called("torch._utils _rebuild_tensor_v2", stored(kind, key, numel), 0, size, ones, False, hooks)


def quantized(parameters, key="0", size=(2, 3), kind="QInt8Storage", numel=6):
    hooks = called("collections OrderedDict")
    ones = tuple(int(np.prod(size[i + 1 :])) for i in range(len(size)))
    return called(
        "torch._utils _rebuild_qtensor", stored(kind, key, numel), 0, size, ones, parameters, False, hooks
    )


PER_TENSOR = (Name("torch per_tensor_affine"), 0.25, 1)
WEIGHT = quantized(PER_TENSOR)


def linear(its_state):
    return pickled_object(f"{CLASSES} LinearPackedParamsBase", its_state)


def with_records(data, **records):
    """Add storage records to the archive."""
    out = io.BytesIO(data)
    with zipfile.ZipFile(out, "a") as file:
        for name, contents in records.items():
            file.writestr(f"archive/data/{name.removeprefix('s')}", contents)
    return out.getvalue()


def linear_archive(its_state=(WEIGHT, None), source=LINEAR, **records):
    data = archive(source, state(p=linear(its_state)))
    return with_records(data, s0=INTEGERS.tobytes(), **records)


def test_linear():
    """A quantized linear layer dequantizes its weight and quantizes its result."""
    loaded = load(linear_archive())
    x = ts.tensor([[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]])
    weight = (INTEGERS.astype(np.float32) - 1) * 0.25  # -128 - 1 does not fit in 8 bits
    expected = np.clip(np.rint(x.numpy() @ weight.T / 0.5) + 3, 0, 255) * 0.5 - 1.5
    assert np.array_equal(loaded(x).numpy(), expected)
    assert ts.jit.missing(io.BytesIO(linear_archive())) == []


def test_rows_have_their_scales():
    """Per-channel weights have scales and zero points of an axis, and a bias is added."""
    scales, zeros = np.array([0.5, 0.25]), np.array([1, -1])
    per_channel = (Name("torch per_channel_affine"), tensor("DoubleStorage", "1", 2), tensor("LongStorage", "2", 2), 0)
    bias = np.array([0.5, 1.0], np.float32)
    data = linear_archive(
        (quantized(per_channel), tensor("FloatStorage", "3", 2)),
        LINEAR.replace("ops.quantized.linear(x, self.p, 0.5, 3)", "ops.quantized.linear_dynamic(x, self.p)"),
        s1=scales.tobytes(), s2=zeros.tobytes(), s3=bias.tobytes(),
    )  # fmt: skip
    weight = (INTEGERS - zeros[:, None]) * scales[:, None]
    assert np.allclose(load(data)(ts.eye(3)).numpy(), weight.T + bias)


def test_four_bits():
    """Packed 4-bit weights have two elements per byte, the lower four bits first."""
    table = pickled_object(
        f"{CLASSES} EmbeddingPackedParamsBase",
        (1, [quantized(PER_TENSOR, "1", (2, 3), "QUInt4x2Storage", 3)], [], [4]),
    )
    source = module(
        "return ops.quantized.embedding_4bit(self.p, x)",
        attributes=f"p : {CLASSES}.EmbeddingPackedParamsBase",
        parameters=", x: Tensor",
    )
    data = with_records(archive(source, state(p=table)), s1=bytes([0x21, 0x43, 0xF5]))
    rows = load(data)(ts.tensor([1, 0]))
    assert rows.tolist() == [[(n - 1) * 0.25 for n in row] for row in ([4, 5, 15], [1, 2, 3])]


def test_saved_and_copied():
    """A saved quantized module contains the data that was loaded; copies share unmodified data."""
    loaded = load(linear_archive())
    again = load(loaded.save_to_buffer())
    x = ts.randn(4, 3)
    for other in (again, copy.deepcopy(loaded), ts.jit.freeze(loaded.eval()), load(ts.jit.freeze(loaded).save_to_buffer())):
        assert ts.equal(other(x), loaded(x))
    names = zipfile.ZipFile(io.BytesIO(loaded.save_to_buffer())).namelist()
    assert not [name for name in names if "classes" in name], "the class is PyTorch's"


def test_dequantization_warns_once():
    """One warning per process says that quantized modules are dequantized."""
    program = "import ts, warnings, io\nwarnings.simplefilter('always')\nfor _ in range(2): ts.jit.load(io.BytesIO(data))"
    run = subprocess.run(
        [sys.executable, "-c", f"data = {linear_archive()!r}\n{program}"], capture_output=True, text=True, check=True
    )
    assert run.stderr.count("are emulated in float32") == 1


def test_scale_of_unquantized_tensor_raises():
    """The scale of an unquantized tensor raises an error; the scale of a quantized tensor is returned."""
    scale = module("return torch.q_scale(x)", parameters=", x: Tensor")
    with pytest.raises(RuntimeError, match="the tensor has no scale and no zero point"):
        load(archive(scale))(ts.ones(2))
    x = quantizer.round_to_grid(ts.ones(2), quantizer.checked_grid(0.3, 5, quantizer.QUINT8))
    assert load(archive(scale))(x) == 0.3
    assert registry.lookup("aten::int_repr")[0](x).tolist() == [8, 8]


def test_unpacked():
    """The method `unpack` of packed parameters compiles to an operator."""
    source = module(
        "w, b, = (self.p).unpack()\nreturn torch.dequantize(w)", attributes=f"p : {CLASSES}.LinearPackedParamsBase"
    )
    loaded = load(linear_archive(source=source))
    assert loaded().tolist() == ((INTEGERS.astype(float) - 1) * 0.25).tolist()
    assert "quantized::linear_unpack" in str(loaded.graph)




def conv(windows, weight=(1, 1, 2, 3), bias=None, version="2"):
    data = np.array(windows, np.int16).tobytes()
    its_state = (version, [tensor("ShortStorage", "1", len(windows)), quantized(PER_TENSOR, size=weight)], [bias])
    source = module("return 1", attributes=f"p : {CLASSES}.Conv2dPackedParamsBase")
    packed_params = pickled_object(f"{CLASSES} Conv2dPackedParamsBase", its_state)
    return with_records(archive(source, state(p=packed_params)), s0=INTEGERS.tobytes(), s1=data)


GOOD = [2, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0]
WRONG = {
    "scale": (linear_archive((quantized((Name("torch per_tensor_affine"), 0.0, 1)), None)), "invalid quantization parameters"),
    "scale-nan": (linear_archive((quantized((Name("torch per_tensor_affine"), float("nan"), 1)), None)), "invalid quantization parameters"),
    "scale-text": (linear_archive((quantized((Name("torch per_tensor_affine"), "a", 1)), None)), "invalid quantization parameters"),
    "zero-point": (linear_archive((quantized((Name("torch per_tensor_affine"), 0.1, 300)), None)), "invalid quantization parameters"),
    "scheme": (linear_archive((quantized((Name("torch FloatStorage"), 0.1, 1)), None)), "invalid quantization parameters"),
    "no-parameters": (linear_archive((quantized(7), None)), "invalid quantization parameters"),
    "axis": (
        linear_archive((quantized((Name("torch per_channel_affine"), None, None, 5)), None)), "invalid quantization parameters"
    ),
    "scales": (
        linear_archive((
            quantized((Name("torch per_channel_affine"), tensor("DoubleStorage", "1", 3), tensor("LongStorage", "2", 3), 0)),
            None,
        ), s1=bytes(24), s2=bytes(24)), "invalid quantization parameters"
    ),
    "size": (linear_archive((quantized(PER_TENSOR, size=(3, 3)), None)), "accesses element 8 of a storage with 6 elements"),
    "plain-storage": (
        linear_archive((quantized(PER_TENSOR, "1", kind="CharStorage"), None), s1=INTEGERS.tobytes()),
        "expected a storage of integers",
    ),
    "quantized-storage": (linear_archive((tensor("QInt8Storage", "0", 2, 3), None)), "a tensor has no valid storage"),
    "no-tensor": (linear_archive((7, None)), "not a float32 tensor of 2 dimensions"),
    "three": (linear_archive((WEIGHT, None, None)), "invalid state of a"),
    "bias": (linear_archive((WEIGHT, tensor("FloatStorage", "1", 3)), s1=bytes(12)), "the bias has 3 elements for 2"),
    "windows": (conv(GOOD[:-1]), "its windows do not have 2 dimensions"),
    "dimensions": (conv([3, *GOOD[1:]]), "its windows do not have 2 dimensions"),
    "groups": (conv([*GOOD[:-2], 0, 0]), "got 0 groups"),
    "version": (conv(GOOD, version="9"), "unsupported version '9'"),
    "conv-weight": (conv(GOOD, weight=(2, 3)), "not a float32 tensor of 4 dimensions"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_invalid_archives_are_rejected(name):
    """Invalid quantized archives raise `ArchiveError`."""
    data, message = WRONG[name]
    with pytest.raises(ArchiveError, match=message):
        load(data)


def test_valid_convolution():
    """The unchanged convolution of `WRONG` loads and runs."""
    assert load(conv(GOOD))() == 1


def test_without_state():
    """An object without state is accepted by the loader and raises an error at its first use."""
    without_state = pickle_opcodes(Name(f"{CLASSES} LinearPackedParamsBase")) + b")\x81"
    loaded = load(archive(LINEAR, state(p=without_state)))
    with pytest.raises(RuntimeError, match=r"a quantized\.LinearPackedParamsBase has no state"):
        loaded(ts.ones(1, 3))


def test_another_class():
    """An attribute rejects objects of another class."""
    source = LINEAR.replace("Linear", "Embedding", 1).replace("return ops.quantized.linear(x, self.p, 0.5, 3)", "return x")
    with pytest.raises(ArchiveError, match="does not match its class"):
        load(linear_archive(source=source))


def test_unknown_classes():
    source = LINEAR.replace("LinearPackedParamsBase", "XPackedParamsBase")
    result = ts.jit.missing(io.BytesIO(archive(source, state(p=pickled_object(f"{CLASSES} XPackedParamsBase", (WEIGHT, None))))))
    assert [(each.kind, each.name) for each in result] == [("class", f"{CLASSES}.XPackedParamsBase")]


def test_every_class_has_its_type():
    """`ts.ir.types` declares exactly the packed parameter classes and other custom classes."""
    from ts.ir.types import CUSTOM_CLASSES

    other_classes = {WORKER_INFO.qualified_name(), RECORD_FUNCTION_TYPE.qualified_name()}
    assert set(CUSTOM_CLASSES) - other_classes == set(packed_params.CLASSES)
    for type in CUSTOM_CLASSES.values():
        assert all(registry.lookup(operator) for operator in type.methods.values())


def test_third_version_of_convolutions():
    """Version 3 of convolution parameters contains the geometry as a list of ints, and flags."""
    weight = quantizer.round_to_grid(ts.ones(1, 1, 2, 2), quantizer.QuantizationParams(0.5, 0, quantizer.QINT8))
    windows = [2, 1, 2, 3, 4, 1, 1, 0, 0, 1, 1]
    parameters = packed_params.Conv2dParams.from_state((3, windows, [None, weight, None]))
    assert (parameters.stride, parameters.padding, parameters.groups, parameters.transposed) == ([1, 2], [3, 4], 1, True)
    again = packed_params.Conv2dParams.from_state(parameters.state())
    assert again.window == parameters.window and again.transposed and again.weight is weight


def test_damaged_archives():
    """An archive with a changed byte in the pickle loads as a module or raises an ArchiveError."""
    data = linear_archive()
    pickle = zipfile.ZipFile(io.BytesIO(data)).read("archive/data.pkl")
    refused = 0
    for at in range(2, len(pickle)):
        for change in (1, 0x80):
            damaged = bytearray(pickle)
            damaged[at] ^= change
            try:
                load(rewritten(data, **{"data.pkl": bytes(damaged)}))
            except ArchiveError:
                refused += 1
    assert refused > len(pickle) / 2
