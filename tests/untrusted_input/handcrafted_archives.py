"""Handcrafted archives: source text that no printer writes, and pickles that no pickler writes.

    load(archive(module("return self.n", attributes="n : int"), data=state(n=b"K\\x07")))()      7
"""

import io
import zipfile

import ts

EMPTY_TUPLE = b"\x80\x02)."


def archive(source, data=None, constants=EMPTY_TUPLE):
    """Return the bytes of an archive with one source file, whose module class is `__torch__.M`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as records:
        records.writestr("archive/data.pkl", state() if data is None else data)
        records.writestr("archive/constants.pkl", constants)
        records.writestr("archive/version", "3")
        records.writestr("archive/code/__torch__.py", source)
    return out.getvalue()


def load(data):
    return ts.jit.load(io.BytesIO(data))


def module(body, definitions="", attributes="", parameters=""):
    """Return the source of a module with the given `forward` body and preceding definitions."""
    lines = [f"  {line}" for line in attributes.splitlines()]
    lines += [f"  def forward(self: __torch__.M{parameters}):", *(f"    {line}" for line in body.splitlines())]
    head = f"{definitions}class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
    return head + "\n".join(lines) + "\n"


def text(value):
    """Return a string in pickle format."""
    return b"X" + len(value).to_bytes(4, "little") + value.encode()


def state(**attributes):
    """Return the pickle of a module with the given pickled attribute values."""
    items = b"".join(text(name) + piece + b"s" for name, piece in attributes.items())
    return b"\x80\x02c__torch__\nM\n)\x81}" + items + b"b."


def doubled(times=60):
    """Return a pickle of nested pairs of one shared value: small, but with exponentially many paths."""
    return b"K\x01" + b"".join(b"q%ch%c\x86" % (i, i) for i in range(times))


def doubled_lists(times=60):
    return b"]K\x01a" + b"".join(b"q%c0]h%cah%ca" % (i, i, i) for i in range(times))


def nested(opening, closing, times=100_000, inside=b"K\x01"):
    """Return a pickle of deeply nested containers."""
    return opening * times + inside + closing * times
