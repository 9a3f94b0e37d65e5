"""`torch.save` in scripts: PyTorch reads the files of `ts` and the reverse, and the pickles are equal."""

import pickletools
import zipfile

import pytest
import torch

import ts

SOURCE = """
def numbers(path: str, other: Dict[str, List[int]]):
    torch.save((1, 70000, -3, 1.5, True, None, 2j, "text", other, [1.0], ["a"], [True], torch.device("cpu")), path)

def tensors(path: str, other: Dict[str, List[int]]):
    x = torch.arange(6).reshape(2, 3)
    torch.save({1: [x, x[1], torch.ones([2], dtype=torch.float64)]}, path)

def optional(path: str, other: Dict[str, List[int]]):
    items: List[Optional[Tuple[int, str]]] = [None, (1, "a")]
    empty: List[Optional[int]] = []
    torch.save((items, empty, torch.empty([0])), path)
"""


def content(path):
    """Return the names of the records, and the pickle without memo numbers: PyTorch memoizes fewer values.

    PyTorch's file has an additional record, which identifies the file.
    """
    with zipfile.ZipFile(path) as archive:
        records = sorted(name for name in archive.namelist() if "serialization_id" not in name)
        opcodes = pickletools.genops(archive.read("archive/data.pkl"))
        return records, [(op.name, "" if "GET" in op.name else arg) for op, arg, _ in opcodes if "PUT" not in op.name]


@pytest.mark.parametrize("name", ["numbers", "tensors", "optional"])
def test_files_are_equal(name, tmp_path):
    paths = [str(tmp_path / f"{library.__name__}.pt") for library in (ts, torch)]
    for library, path in zip((ts, torch), paths):
        getattr(library.jit.CompilationUnit(SOURCE), name)(path, {"a": [1], "b": []})
    assert content(paths[0]) == content(paths[1])
    loaded = [str(torch.load(path, weights_only=False)) for path in paths]
    assert loaded[0] == loaded[1] == str(ts.load(paths[1], weights_only=False))


@pytest.mark.parametrize("name", ["numbers", "tensors", "optional"])
def test_graphs_are_equal(name):
    texts = [str(getattr(library.jit.CompilationUnit(SOURCE), name).graph) for library in (ts, torch)]
    assert texts[0] == texts[1]


def test_result_of_the_call_is_an_empty_tuple():
    source = "def f(x: int, path: str):\n    return torch.save(x, path)\n"
    texts = [str(library.jit.CompilationUnit(source).f.graph) for library in (ts, torch)]
    assert texts[0] == texts[1]
