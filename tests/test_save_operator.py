"""`torch.save` in scripts: the operator `aten::save`, and the files that it writes."""

import zipfile
from typing import Dict, List, NamedTuple, Optional, Tuple

import pytest

import ts
from ts import Tensor


class Point(NamedTuple):
    x: int
    y: Tensor


class Saver(ts.nn.Module):
    path: str

    def __init__(self, path: str):
        super().__init__()
        self.path = path
        self.register_buffer("table", ts.arange(4.0))

    def forward(self, x):
        self.table.add_(x)
        ts.save(self.table[1:], self.path)
        self.table.zero_()

    @ts.jit.export
    def save_values(self, number: int, texts: Dict[str, List[float]], items: Optional[List[Tuple[int, str]]]):
        ts.save((number, texts, items, Point(number, self.table), ts.device("cpu"), 2j, True, None), self.path)


@pytest.fixture
def saver(tmp_path):
    return ts.jit.script(Saver(str(tmp_path / "value.pt")))


def test_graph_and_code(saver):
    """The call is one operator without results, as in PyTorch."""
    assert " = aten::save(" in str(saver.graph) and "torch.save(" in saver.code
    assert [str(s) for s in ts._C._jit_get_schemas_for_operator("aten::save")] == ["aten::save(t item, str filename) -> ()"]


def test_value_at_the_call_is_written(saver):
    """The operator keeps its position between operators that mutate the tensor; a view is written as a view."""
    for k in range(1, 4):
        saver(ts.tensor(float(k)))
        saved = ts.load(saver.path)
        assert saved.tolist() == ([2.0, 3.0, 4.0] if k == 1 else [k] * 3)
        assert saved.storage_offset() == 1 and saved.untyped_storage().nbytes() == 16
    assert saver.table.tolist() == [0.0] * 4


@pytest.mark.parametrize("items", [None, [], [(1, "a"), (2, "b")]])
def test_values_of_all_kinds(saver, items):
    saver.save_values(7, {"a": [0.5], "b": []}, items)
    point = (7, ts.arange(4.0))
    number, texts, loaded_items, loaded_point, *rest = ts.load(saver.path, weights_only=False)
    assert (number, texts, loaded_items) == (7, {"a": [0.5], "b": []}, items)
    assert loaded_point[0] == point[0] and ts.equal(loaded_point[1], point[1])
    assert rest == [ts.device("cpu"), 2j, True, None]


def test_containers_have_their_types(saver):
    """The pickle contains the element types, also of empty containers."""
    saver.save_values(1, {}, [])
    with zipfile.ZipFile(saver.path) as archive:
        assert archive.namelist()[0] == "archive/data/0" and archive.read("archive/version") == b"3\n"
        data = archive.read("archive/data.pkl")
    assert b"Dict[str, List[float]]" in data and b"List[Tuple[int, str]]" in data


def test_shared_values_are_written_once(tmp_path):
    path = str(tmp_path / "shared.pt")

    def save(x: Tensor, path: str):
        row = [1, 2]
        ts.save((row, row, x, x[0]), path)

    ts.jit.script(save)(ts.ones(2, 2), path)
    first, second, x, row = ts.load(path, weights_only=False)
    assert first is second
    row.zero_()
    assert x.tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_lists_need_permission(tmp_path):
    """Files with lists call `torch.jit._pickle`, which `weights_only` does not allow, as in PyTorch."""
    path = str(tmp_path / "list.pt")
    ts.jit.CompilationUnit("def f(path: str):\n  torch.save([1], path)").f(path)
    with pytest.raises(Exception, match=r"torch\.jit\._pickle\.build_intlist was not an allowed global"):
        ts.load(path)
    with ts.serialization.safe_globals([ts.jit._pickle.build_intlist]):
        assert ts.load(path) == [1]


def test_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "value.pt"
    unit = ts.jit.CompilationUnit(
        "def f(x: int, path: str):\n  torch.save(x, path)\n"
        "def g(path: str):\n  torch.save(torch.jit.fork(torch.relu, torch.ones(1)), path)"
    )
    unit.f(3, str(path))
    with pytest.raises(RuntimeError, match=r"Future.* cannot be saved"):
        unit.g(str(path))
    assert ts.load(path) == 3 and [p.name for p in tmp_path.iterdir()] == ["value.pt"]
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        unit.f(3, str(tmp_path / "absent" / "value.pt"))


def test_arguments_are_checked():
    with pytest.raises(RuntimeError, match=r"aten::save\(t item, str filename\) -> \(\):\nArgument item not provided"):
        ts.jit.CompilationUnit("def f(x: int):\n  torch.save(obj=x, f='a.pt')")
