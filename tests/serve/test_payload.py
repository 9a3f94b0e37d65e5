"""Decoding of requests and encoding of responses: accepted values, rejected bodies, and size checks before reading."""

import io
import json
import math
import struct
import zipfile

import numpy as np
import pytest

import ts
from ts.serve.payload import InvalidInputError, ResponseTooLargeError, encode_response, decode_inputs

UNIT = ts.jit.CompilationUnit("""
def model(x, n: int = 1, f: float = 0.5, flag: bool = False, word: str = "", xs: Optional[List[int]] = None,
          pair: Tuple[int, float] = (1, 2.0), table: Optional[Dict[str, Tensor]] = None):
    return x
""")
ARGUMENTS = UNIT.model.schema.arguments


def decode_json(inputs):
    text = inputs if isinstance(inputs, bytes) else json.dumps({"inputs": inputs}).encode()
    return decode_inputs(text, "json", ARGUMENTS, max_bytes=1 << 20)


def npz(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def decode_npz(body, max_bytes=1 << 20):
    return decode_inputs(body, "npz", ARGUMENTS, max_bytes=max_bytes)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([[1, 2], [3, 4]], ts.tensor([[1, 2], [3, 4]])),
        ([1, 2.5], ts.tensor([1, 2.5])),
        ([True, False], ts.tensor([True, False])),
        (3, ts.tensor(3)),
        ([], ts.tensor([])),
        ([1e300, "-Infinity"], ts.tensor([math.inf, -math.inf])),
        ({"data": [1, 2], "dtype": "float16"}, ts.tensor([1, 2], dtype=ts.float16)),
        ({"data": [1, 2], "dtype": "bfloat16"}, ts.tensor([1, 2], dtype=ts.bfloat16)),
        ({"data": [], "dtype": "int32", "shape": [0, 3]}, ts.zeros(0, 3, dtype=ts.int32)),
        ({"data": [[1.5]], "shape": [1, 1]}, ts.tensor([[1.5]])),
    ],
)
def test_json_tensors(given, expected):
    found = decode_json({"x": given})["x"]
    assert found.dtype == expected.dtype and found.shape == expected.shape and ts.equal(found, expected)


def test_json_values_of_other_types():
    given = {"x": 1, "n": 7, "f": "NaN", "flag": True, "word": "ß", "xs": [1, 2], "pair": [3, 4], "table": {"a": [1]}}
    found = decode_json(given)
    assert math.isnan(found.pop("f")) and found.pop("x").item() == 1 and found.pop("table")["a"].tolist() == [1]
    assert found == {"n": 7, "flag": True, "word": "ß", "xs": [1, 2], "pair": (3, 4.0)}
    assert decode_json([1, 2]).keys() == {"x", "n"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[1]", "expected {"),
        (b'{"inputs": 1}', "expected {"),
        (b'{"inputs": {"x": 1}, "more": 1}', "expected {"),
        (b'{"inputs": {"x": NaN}}', "NaN is not a JSON number"),
        (b'{"inputs": {"x": -Infinity}}', "Infinity is not a JSON number"),
        (b'{"inputs": {"x": ' + b"[" * 100_000 + b"}}", "nested too deeply|not JSON"),
        (b'{"inputs": {"x": ' + b"[" * 200 + b"1" + b"]" * 200 + b"}}", "equal lengths|dimensions"),
        (b'{"inputs": {"x": ' + b"9" * 10_000 + b"}}", "not JSON"),
        (b'{"inputs": {"x": [18446744073709551616]}}', "not a tensor"),
        (b'{"inputs": {"x": [[1], [2, 3]]}}', "equal lengths"),
        (b'{"inputs": {"x": [1, null]}}', "contains NoneType"),
        (b'{"inputs": {"x": ["1"]}}', "contains str '1'"),
        (b'{"inputs": {"x": ["nan"]}}', "contains str 'nan'"),
        (b'{"inputs": {"x": {"data": 1, "dtype": "object"}}}', "unknown dtype"),
        (b'{"inputs": {"x": {"data": 1, "dtype": 3}}}', "unknown dtype"),
        (b'{"inputs": {"x": {"dtype": "int8"}}}', "got another object"),
        (b'{"inputs": {"x": {"data": [], "shape": [1, 2]}}}', "but the shape is not"),
        (b'{"inputs": {"x": {"data": [], "shape": [0, -1]}}}', "list of sizes"),
        (b'{"inputs": {"x": {"data": [1, 2], "shape": [2, 1]}}}', "expected \\[2, 1\\]"),
        (b'{"inputs": {"x": 1, "n": 1.5}}', "expected int"),
        (b'{"inputs": {"x": 1, "n": true}}', "expected int"),
        (b'{"inputs": {"x": 1, "n": 9223372036854775808}}', "expected int"),
        (b'{"inputs": {"x": 1, "f": "1"}}', "expected float|expected a float"),
        (b'{"inputs": {"x": 1, "pair": [1]}}', "expected Tuple"),
        (b'{"inputs": {"n": 1}}', "'x' is missing"),
        (b'{"inputs": {"x": 1, "y": 1}}', "no input 'y'"),
        (b'{"inputs": [1, 1, 1, true, "", null, [1, 1], null, 9]}', "got 9 inputs"),
        (b'{"inputs": {"x": "\\ud800"}}', "contains"),
    ],
)
def test_invalid_json_is_rejected(body, message):
    with pytest.raises(InvalidInputError, match=message):
        decode_json(body)


def test_npz():
    x = np.arange(6, dtype=">f8").reshape(2, 3)
    found = decode_npz(npz(x=np.asfortranarray(x), n=np.int32(3)))
    assert found["x"].tolist() == x.tolist() and found["x"].dtype == ts.float64 and found["n"] == 3
    out = io.BytesIO()
    np.savez_compressed(out, np.ones((2, 2), np.float16), np.array(4))
    assert decode_npz(out.getvalue())["x"].dtype == ts.float16 and decode_npz(out.getvalue())["n"] == 4


def npz_with_header(header, data, name="x.npy"):
    """Return an npz of one array with a given npy header."""
    text = header.encode() if isinstance(header, str) else header
    body = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, body)
    return out.getvalue()


def header(descr="<f4", shape="(2,)", order="False"):
    return f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


def npz_with_wrong_size():
    """Return an npz whose entry declares a smaller size than its data decompresses to."""
    data = npz_with_header(header(shape="(2,)"), b"\0" * 8 + b"\0" * (1 << 22))
    size = struct.pack("<I", (1 << 22) + 8 + len(header(shape="(2,)")) + 10)
    return data.replace(size, struct.pack("<I", 8 + len(header(shape="(2,)")) + 10))


def npz_with_overlapping_entries():
    """Return an npz whose central directory lists one entry many times."""
    data = npz(x=np.zeros(10_000))
    end = data.rindex(b"PK\x05\x06")
    start = data.index(b"PK\x01\x02")
    central = data[start:end]
    count = 60
    tail = data[end : end + 8] + struct.pack("<HHII", count, count, count * len(central), start) + b"\0\0"
    return data[:start] + central * count + tail


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not an npz"),
        (b"PK\x05\x06" + b"\0" * 18, "'x' is missing"),
        (npz(x=np.zeros(4))[:-10], "not an npz"),
        (npz(x=np.array([object()], dtype=object)), "expected numbers"),
        (npz(x=np.zeros(2, dtype="i4,f4")), "expected numbers"),
        (npz(x=np.array(["a"])), "expected numbers"),
        (npz(x=np.zeros(1 << 20)), "contains more than"),
        (npz(y=np.zeros(1)), "no input 'y'"),
        (npz(**{f"y{i}": np.zeros(1) for i in range(100)}), "has 100 entries"),
        (npz_with_header(header(shape="(1000000000000,)"), b"\0" * 8), "does not match its shape"),
        (npz_with_header(header(shape="(2, 4294967296, 4294967296)"), b"\0" * 8), "does not match its shape"),
        (npz_with_header(header(shape="(-2,)"), b"\0" * 8), "invalid shape"),
        (npz_with_header(header(shape="(0,) * 10"), b""), "not an npz"),
        (npz_with_header(header(shape="(" + "1, " * 40 + ")"), b"\0" * 4), "invalid shape"),
        (npz_with_header(header(descr="|O"), b"\0" * 16), "expected numbers"),
        (npz_with_header(header(descr="|V8"), b"\0" * 16), "expected numbers"),
        (npz_with_header(b"{" * 60_000, b""), "not an npz"),
        (npz_with_header("__import__('os').getcwd()\n", b""), "not an npz"),
        (npz_with_header(header(), b"\0" * 8, name="../x.npy"), "no input"),
        (npz_with_header(header(), b"\0" * 8, name="x"), "NAME.npy"),
        (npz_with_wrong_size(), "not an npz|does not match"),
        (npz_with_overlapping_entries(), "duplicate names|contains more|not an npz"),
        (b"\x80\x04cos\nsystem\n(S'true'\ntR.", "not an npz"),
    ],
    ids=range(23),
)
def test_invalid_npz_is_rejected(body, message):
    with pytest.raises(InvalidInputError, match=message):
        decode_npz(body)


def test_decompression_bomb_is_rejected_by_its_declared_size():
    """An array of 1,000 times the size of the body is rejected without decompression."""
    out = io.BytesIO()
    np.savez_compressed(out, x=np.zeros(1 << 24, dtype=np.int8))
    assert len(out.getvalue()) < 1 << 15
    with pytest.raises(InvalidInputError, match="contains more than"):
        decode_npz(out.getvalue())


def test_damaged_data_is_rejected():
    """The checksum detects a flipped bit, also in entries without compression."""
    body = bytearray(npz(x=np.zeros(100)))
    body[body.index(b"\n") + 10] ^= 1
    with pytest.raises(InvalidInputError, match="not an npz"):
        decode_npz(bytes(body))


def outputs(result):
    return json.loads(encode_response(result, "json", max_bytes=1 << 20))["outputs"]


def test_json_responses():
    result = {"a": ts.tensor([1.5, math.nan, math.inf, -math.inf]), "b": [(1, True), (2, None)], "c": math.nan, "d": "ß"}
    assert outputs(result) == {
        "a": {"data": [1.5, "NaN", "Infinity", "-Infinity"], "dtype": "float32", "shape": [4]},
        "b": [[1, True], [2, None]],
        "c": "NaN",
        "d": "ß",
    }
    assert outputs(ts.zeros(0, 3, dtype=ts.int16)) == {"data": [], "dtype": "int16", "shape": [0, 3]}
    assert outputs(ts.tensor([1.5], dtype=ts.bfloat16)) == {"data": [1.5], "dtype": "bfloat16", "shape": [1]}
    assert outputs(ts.tensor([1 + 2j]))["data"] == [[1.0, 2.0]]


def test_npz_responses():
    body = encode_response((ts.ones(2), {"a": 3, "b": None}), "npz", max_bytes=1 << 20)
    with np.load(io.BytesIO(body), allow_pickle=False) as found:
        assert {name: found[name].tolist() for name in found} == {"0": [1.0, 1.0], "1.a": 3}


@pytest.mark.parametrize("kind", ["json", "npz"])
def test_response_size_limit(kind):
    with pytest.raises(ResponseTooLargeError):
        encode_response(ts.zeros(1 << 18), kind, max_bytes=1 << 19)
