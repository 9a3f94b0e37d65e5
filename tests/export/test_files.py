"""`.pt2` files: saved programs load unchanged, static ones run without sympy, and damaged files are
rejected."""

import copy
import io
import json
import random
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import ts
from ts.errors import ArchiveError
from ts.export import Dim, export, load, save
from ts.export import expr_parser
from ts.nn import Buffer, Linear, Module, Parameter


class Net(Module):
    def __init__(self):
        super().__init__()
        self.fc = Linear(3, 2)
        self.tied = self.fc.weight
        base = ts.arange(16.0).reshape(4, 4)
        self.part = Parameter(base[1:3, 1:3])
        self.register_buffer("scale", ts.tensor([2.0, 3.0]))
        self.register_buffer("hidden", ts.tensor([1, 2]), persistent=False)
        self.table = ts.tensor([5.0, 6.0])

    def forward(self, x, n, *, flag, pair):
        a, b = ts.split(x, [1, 2], 1)
        rows = x[:, ts.tensor([0, 2])]
        if flag:
            x = self.fc(x) * self.scale + self.hidden + self.table * n
        full = ts.full((2,), float("inf"), dtype=ts.float64)
        return {"y": x + self.part.sum(), "more": [a, b, rows, None, 3, full.sum(), pair[0] - pair[1]]}


def example(rows=4):
    return (ts.ones(rows, 3), 2), {"flag": True, "pair": (ts.ones(2), ts.zeros(2))}


@pytest.fixture(scope="module")
def program():
    ts.manual_seed(0)
    args, kwargs = example()
    shapes = {"x": {0: Dim("rows", min=2, max=9)}, "n": None, "flag": None, "pair": (None, None)}
    return export(Net(), args, kwargs, dynamic_shapes=shapes)


@pytest.fixture(scope="module")
def saved(program):
    file = io.BytesIO()
    save(program, file, extra_files={"notes.txt": "hello"})
    return file.getvalue()


def loaded(data):
    return load(io.BytesIO(data))


def leaves(x):
    return ts.utils._pytree.tree_leaves(x)


def records(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(contents):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return file.getvalue()


def changed(data, change, record="models/model.json"):
    """Return the file with changed JSON in one record."""
    contents = records(data)
    (name,) = [n for n in contents if n.endswith(record)]
    tree = json.loads(contents[name])
    change(tree)
    contents[name] = json.dumps(tree).encode()
    return zipped(contents)


# ---- round trips -----------------------------------------------------------------------------------------------


def test_saved_programs_load_unchanged(program, saved):
    """The loaded program has the graph, signature, state, ranges and numbers of the saved program."""
    again = loaded(saved)
    assert str(again.graph) == str(program.graph)
    assert again.graph_signature == program.graph_signature
    assert str(again.range_constraints) == str(program.range_constraints)
    assert again.state_dict.keys() == program.state_dict.keys()
    for name, x in program.state_dict.items():
        y = again.state_dict[name]
        assert type(x) is type(y)
        assert x.requires_grad == y.requires_grad
        assert x.stride() == y.stride()
        assert ts.equal(x, y)
    for rows in (4, 9):
        args, kwargs = example(rows)
        got, want = leaves(again.module()(*args, **kwargs)), leaves(program.module()(*args, **kwargs))
        assert len(got) == len(want) == 8
        assert all(
            ts.equal(x, y) if isinstance(x, ts.Tensor) else x == y for x, y in zip(got, want, strict=True)
        )


def test_values_are_described(program, saved):
    """Loading restores the shapes, dtypes and symbols of placeholders."""
    known = [(n.name, str(n.meta["val"])) for n in program.graph.nodes if n.op == "placeholder"]
    assert [(n.name, str(n.meta["val"])) for n in loaded(saved).graph.nodes if n.op == "placeholder"] == known


def test_saving_again_changes_nothing(saved):
    """Saving a loaded program writes the same JSON."""
    file = io.BytesIO()
    save(loaded(saved), file)
    before, after = records(saved), records(file.getvalue())
    assert json.loads(before["model/models/model.json"]) == json.loads(after["model/models/model.json"])


def test_storages_are_shared():
    """Tensors that share memory are stored once and share memory after loading."""
    program = export(Tied(), (ts.ones(2),))
    file = io.BytesIO()
    save(program, file)
    config = json.loads(records(file.getvalue())["model/data/constants/model_constants_config.json"])[
        "config"
    ]
    assert len({entry["path_name"] for entry in config.values()}) == 1
    first, second = loaded(file.getvalue()).constants.values()
    first.add_(1)
    assert second.tolist() == [4.0]


class Tied(Module):
    def __init__(self):
        super().__init__()
        base = ts.arange(4.0)
        self.first, self.second = Buffer(base, persistent=False), Buffer(base[3:], persistent=False)

    def forward(self, x):
        return x.sum() + self.first + self.second


def test_loaded_programs_check_conditions(saved):
    """A loaded program checks sizes, ranges and constants."""
    module = loaded(saved).module()
    args, kwargs = example()
    for (x, n), message in (
        ((ts.ones(10, 3), 2), "x.size()[0] <= 9"),
        ((ts.ones(4, 4), 2), "x.size()[1] == 3"),
        ((ts.ones(4, 3), 5), "n == 2"),
    ):
        with pytest.raises(AssertionError, match=re.escape(f"Guard failed: {message}")):
            module(x, n, **kwargs)
    with pytest.raises(ValueError, match="kwarg keyword mismatch"):
        module(*args, flag=True)


def test_loaded_programs_check_guards():
    """A loaded program checks the conditions that selected branches at export."""

    class M(Module):
        def forward(self, x, y):
            return x + 1 if x.shape[0] > 2 * y.shape[0] else x

    shapes = ({0: Dim.AUTO}, {0: Dim.AUTO})
    program = export(M(), (ts.ones(9), ts.ones(3)), dynamic_shapes=shapes)
    file = io.BytesIO()
    save(program, file)
    assert json.loads(records(file.getvalue())["model/models/model.json"])["guards_code"] != []
    module = loaded(file.getvalue()).module()
    assert module(ts.ones(13), ts.ones(6)).shape == (13,)
    with pytest.raises(AssertionError, match="Guard failed"):
        module(ts.ones(12), ts.ones(6))


def test_extra_files(saved, tmp_path):
    """Extra files are returned as text; a path can be given instead of a file."""
    path = tmp_path / "net.pt2"
    path.write_bytes(saved)
    extra = {"notes.txt": "", "absent": None}
    load(path, extra_files=extra)
    assert extra == {"notes.txt": "hello", "absent": ""}


def test_argument_names_of_python_functions(tmp_path):
    """Arguments may have the names of Python functions and of names in generated code."""

    class M(Module):
        def forward(self, input, inf, device):
            return input + inf * device

    file = io.BytesIO()
    save(export(M(), (ts.ones(2), ts.ones(2), ts.ones(2))), file)
    data = changed(file.getvalue(), lambda j: j)
    text = json.dumps(json.loads(records(data)["model/models/model.json"]))
    for ours in ("input", "inf", "device"):  # the names in PyTorch's files
        text = text.replace(f'"{ours}_1"', f'"{ours}"')
    contents = records(data) | {"model/models/model.json": text.encode()}
    module = loaded(zipped(contents)).module()
    assert module(ts.ones(2), ts.ones(2) * 2, ts.ones(2) * 3).tolist() == [7.0, 7.0]


SILENT = """
import sys
import ts, ts.export
module = ts.export.load(sys.argv[1]).module()
print(module(ts.ones(2, 3)).shape, "sympy" in sys.modules, "torch" in sys.modules)
"""


def test_a_static_program_needs_no_sympy(tmp_path):
    """A static program loads and runs without importing sympy or PyTorch."""

    class M(Module):
        def forward(self, x):
            return x.relu() + 1

    path = tmp_path / "static.pt2"
    save(export(M(), (ts.ones(2, 3),)), path)
    done = subprocess.run([sys.executable, "-c", SILENT, path], capture_output=True, text=True, check=True)
    assert done.stdout.split("]) ")[1].split() == ["False", "False"]


WITHOUT_SYMPY = """
import sys
sys.modules["sympy"] = None
import ts, ts.export
static = ts.export.load(sys.argv[1])
print(static.module()(ts.ones(2, 3)).shape)
ts.export.save(static, sys.argv[1])
calls = [
    lambda: ts.export.load(sys.argv[2]),
    lambda: ts.export.export,
    lambda: ts.export.draft_export,
    lambda: static.run_decompositions(),
]
for call in calls:
    try:
        call()
    except ImportError as error:
        print(str(error).partition(":")[2].strip())
"""


def test_errors_without_sympy_name_the_extra(saved, tmp_path):
    """Without SymPy, exporting and loading symbolic sizes raise errors that name the package extra to install."""
    static, dynamic = tmp_path / "static.pt2", tmp_path / "dynamic.pt2"
    save(export(Linear(3, 2), (ts.ones(2, 3),)), static)
    save(export(Linear(3, 2), (ts.ones(2, 3),), dynamic_shapes=({0: Dim("batch")},)), dynamic)
    command = [sys.executable, "-c", WITHOUT_SYMPY, static, dynamic]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, *errors = done.stdout.splitlines()
    assert first == "torch.Size([2, 2])"
    assert errors == ["pip install 'torchscript-ts[export]'"] * 4


def test_one_module_imports_sympy():
    """Other modules use `ts.export.sympy_import`, so that each error about missing SymPy names the extra."""
    root = Path(ts.__file__).parent
    importing = [p for p in root.rglob("*.py") if re.search(r"^\s*(import|from) sympy\b", p.read_text(), re.MULTILINE)]
    assert importing == [root / "export" / "sympy_import.py"]


# ---- invalid files ---------------------------------------------------------------------------------------------


def node(tree, place=0):
    return tree["graph_module"]["graph"]["nodes"][place]


def edit(*path, to):
    """Return a function that replaces the entry at a path of the JSON."""

    def change(tree):
        for key in path[:-1]:
            tree = tree[key]
        tree[path[-1]] = to

    return change


def called_self(tree):
    """Rename the first computed tensor to `self`, the name of the module in generated code."""
    results = [x["outputs"][0] for x in tree["graph_module"]["graph"]["nodes"]]
    name = next(x["as_tensor"]["name"] for x in results if "as_tensor" in x)
    tree.update(json.loads(json.dumps(tree).replace(f'"{name}"', '"self"')))


GRAPH = ("graph_module", "graph")
INVALID_CHANGES = {
    "an operator that is not there": (edit(*GRAPH, "nodes", 0, "target", to="torch.ops.mylib.sin.default"), "mylib::sin"),
    "a function of Python": (edit(*GRAPH, "nodes", 0, "target", to="os.system"), "os.system"),
    "a module's attribute": (edit(*GRAPH, "nodes", 0, "target", to="torch.ops.aten.__class__.mro"), "__class__"),
    "code for a name": (edit(*GRAPH, "nodes", 0, "name", to="x = 1\nimport os"), "not a valid name"),
    "a keyword for a name": (edit(*GRAPH, "inputs", 0, to={"as_tensor": {"name": "lambda"}}), "not a valid name|signature"),
    "code for an option": (
        edit(*GRAPH, "nodes", 0, "inputs", 0, to={"name": "a=print()", "arg": {"as_int": 1}, "kind": 2}),
        "not a valid name",
    ),
    "a value before it is there": (
        edit(*GRAPH, "nodes", 0, "inputs", 0, "arg", to={"as_tensor": {"name": "later"}}),
        "before its definition",
    ),
    "an unknown kind of argument": (edit(*GRAPH, "nodes", 0, "inputs", 0, "arg", to={"as_pickle": "x"}), "as_pickle"),
    "a text for a list": (edit(*GRAPH, "nodes", to="none"), "not a list"),
    "no graph": (lambda tree: tree["graph_module"].pop("graph"), "has no graph"),
    "another schema": (edit("schema_version", "major", to=9), "schema version 9"),
    "newer operators": (edit("opset_version", "aten", to=99), "version 99"),
    "an open tree": (edit("graph_module", "module_call_graph", 0, "signature", "in_spec", to="[1, {}]"), "tree"),
    "a tree of another type": (
        edit(
            "graph_module", "module_call_graph", 0, "signature", "out_spec",
            to='[1, {"type": "os.path", "context": "null", "children_spec": []}]',
        ),
        "not registered",
    ),
    "a key that would be imported": (
        edit(
            "graph_module", "module_call_graph", 0, "signature", "out_spec",
            to=json.dumps([1, {"type": "builtins.dict", "context": '[{"__enum__": true, "fqn": "os:path", "name": "x"}]',
                               "children_spec": [{"type": None, "context": None, "children_spec": []}]}]),
        ),
        "neither a string nor a number",
    ),
    "fewer results": (edit(*GRAPH, "outputs", to=[]), "outputs of the program do not match"),
    "a parameter that runs over the module": (
        edit("graph_module", "signature", "input_specs", 0, "parameter", "parameter_name", to="__class__.x"),
        "not a valid name of a parameter",
    ),
    "a parameter that a program's module has": (
        edit("graph_module", "signature", "input_specs", 0, "parameter", "parameter_name", to="_out_spec"),
        "cannot name a parameter",
    ),
    "a parameter of the methods": (
        edit("graph_module", "signature", "input_specs", 0, "parameter", "parameter_name", to="recompile.x"),
        "cannot name a parameter",
    ),
    "the module for a name": (
        called_self,
        "has the name self",
    ),
    "a parameter that is not there": (
        edit("graph_module", "signature", "input_specs", 0, "parameter", "parameter_name", to="other"),
        "is missing in the file",
    ),
    "a condition that calls": (edit("guards_code", to=["__import__('os').system('true') == 0"]), "cannot be parsed"),
    "a condition of nothing": (edit("guards_code", to=["L['z'].size()[0] == 1"]), "does not refer to an argument"),
    "an empty range": (edit("range_constraints", to={"s0": {"min_val": 9, "max_val": 2}}), "exceeds its upper bound"),
    "a range of code": (edit("range_constraints", to={"exit()": {"min_val": 0, "max_val": 2}}), "is not supported"),
}  # fmt: skip


@pytest.mark.parametrize("name", INVALID_CHANGES)
def test_invalid_files_are_rejected(saved, name):
    change, message = INVALID_CHANGES[name]
    with pytest.raises(ArchiveError, match=message):
        loaded(changed(saved, change))


def test_a_size_of_no_dimension():
    """A size of a missing dimension is rejected when the file is read."""

    class Counts(Module):
        def forward(self, x):
            return x.sum() / x.shape[0]

    file = io.BytesIO()
    save(export(Counts(), (ts.ones(4),), dynamic_shapes=({0: Dim("n")},)), file)
    contents = records(file.getvalue())
    tree = json.loads(contents["model/models/model.json"])
    [size] = [x for x in tree["graph_module"]["graph"]["nodes"] if x["target"].endswith("sym_size.int")]
    size["inputs"][1]["arg"] = {"as_int": 3}
    contents["model/models/model.json"] = json.dumps(tree).encode()
    with pytest.raises(ArchiveError, match="reads a dimension that its tensor does not have"):
        loaded(zipped(contents))


@pytest.mark.parametrize(
    "name",
    ["z=exit(), key", "x):\n    exit()\n    def g(", "a-b", "class", "self", "torch", "_positional_arg_0"],
)
def test_argument_names_are_not_executed_as_code(name):
    """Keyword names of module calls, which occur in the code of `unflatten`, are not executed as code."""

    class Inner(Module):
        def forward(self, x, *, key):
            return x + key

    class Outer(Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x, key=x * 2)

    file = io.BytesIO()
    save(export(Outer(), (ts.ones(2),), preserve_module_call_signature=("inner",)), file)

    def change(tree):
        for entry in tree["graph_module"]["module_call_graph"]:
            if entry["fqn"] == "inner":
                spec = entry["signature"]["in_spec"]
                assert '\\"key\\"' in spec
                entry["signature"]["in_spec"] = spec.replace('\\"key\\"', json.dumps(json.dumps(name))[1:-1])

    assert ts.export.unflatten(loaded(file.getvalue()))(ts.ones(2)).tolist() == [3, 3]
    with pytest.raises(
        ArchiveError, match=r"is not a valid name of a value|cannot be the name of an argument"
    ):
        loaded(changed(file.getvalue(), change))


def test_state_with_the_name_of_a_branch():
    """A state entry with the name of a branch is rejected, since the module has one attribute per name."""

    class Scale(Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", ts.ones(2))

        def forward(self, x):
            return ts.cond(x.sum() > 0, lambda x: x * self.scale, lambda x: x - 1, (x,))

    file = io.BytesIO()
    save(export(Scale(), (ts.ones(2),)), file)
    contents = records(file.getvalue())
    for name, data in contents.items():
        if name.endswith(".json"):
            contents[name] = data.replace(b'"scale"', b'"true_graph_0.scale"')
    with pytest.raises(ArchiveError, match="it is the name of a branch"):
        loaded(zipped(contents))


SIZES = [
    "Pow(Integer(10), Integer(1000000))", "Pow(Symbol('s0', integer=True), Integer(100000))", "Symbol('a b')",
    "Symbol('s0', commutative=False)", "Add(1, '__import__')", "lambda: 1", "().__class__", "FloorDiv(Integer(1), Integer(0))",
    "Add(" * 100 + "1" + ")" * 100, "Mul(" + ", ".join(f"Add(Symbol('s{i}'), Integer(1))" for i in range(30)) + ")",
    "Integer(1" + "0" * 100 + ")", "open('x')", "[", "", "Symbol('s0', integer=True) Integer(1)", "Integer('os')",
]  # fmt: skip


@pytest.mark.parametrize("text", SIZES)
def test_sizes_are_of_listed_functions(saved, text):
    """Size expressions may use the listed functions only, and have bounded size and depth."""
    size = {"as_expr": {"expr_str": text, "hint": None}}
    with pytest.raises(ArchiveError):
        loaded(changed(saved, edit(*GRAPH, "tensor_values", "x", "sizes", 0, to=size)))


WEIGHTS = "weights/model_weights_config.json"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("sizes", 0), {"as_int": 1 << 40}), (("strides", 0), {"as_int": 1 << 40}), (("sizes", 0), {"as_int": -1}),
        (("storage_offset",), {"as_int": 1 << 40}), (("dtype",), 99), (("layout",), 1), (("strides",), []),
        (("storage_offset",), {"as_int": -4}), (("device",), {"type": "nowhere", "index": None}), (("sizes",), [{"as_int": 2}] * 100),
    ],
)  # fmt: skip
def test_weight_records_are_bounded(saved, path, value):
    """A tensor beyond the end of its record is rejected before memory is allocated."""
    change = edit("config", "part", "tensor_meta", *path, to=value)
    with pytest.raises(ArchiveError):
        loaded(changed(saved, change, WEIGHTS))


def test_invalid_records_are_rejected(saved):
    """Overlapping, repeated, missing or misplaced records raise `ArchiveError`."""
    contents = records(saved)
    missing = {n: d for n, d in contents.items() if not n.endswith("weight_0")}
    with pytest.raises(ArchiveError, match="weight_0"):
        loaded(zipped(missing))
    with pytest.raises(ArchiveError, match="one folder"):
        loaded(zipped(contents | {"other/version": b"0"}))
    with pytest.raises(ArchiveError, match="not an exported program"):
        loaded(zipped({n: d for n, d in contents.items() if not n.endswith("archive_format")}))
    with pytest.raises(ArchiveError, match="version"):
        loaded(zipped(contents | {"model/archive_version": b"7"}))
    file = io.BytesIO(saved)
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("model/byteorder", b"little")
    with pytest.raises(ArchiveError, match="same name"):
        loaded(file.getvalue())
    overlapping = bytearray(zipped(contents | {f"model/extra/{i}": b"" for i in range(3)}))
    large = max(zipfile.ZipFile(io.BytesIO(saved)).infolist(), key=lambda e: e.file_size).file_size
    for i in range(3):  # central directory entries that claim the largest record's size
        at = overlapping.rindex(f"model/extra/{i}".encode()) - 46
        overlapping[at + 20 : at + 28] = large.to_bytes(4, "little") * 2
    with pytest.raises(ArchiveError):
        loaded(bytes(overlapping))


def test_json_is_strict(saved):
    """JSON with repeated keys, deep nesting or nonstandard values is rejected."""
    contents = records(saved)
    for text in (
        b'{"a": 1, "a": 2}',
        b"[" * 100_000,
        b'{"a": NaN}',
        b"\xff",
        b'{"schema_version": 1' + b"0" * 5000 + b"}",
    ):
        with pytest.raises(ArchiveError):
            loaded(zipped(contents | {"model/models/model.json": text}))


def test_pickled_tensors_are_read_with_restrictions(saved):
    """A weight in the format of `ts.save` must be a tensor, and cannot name other objects."""
    file = io.BytesIO()
    ts.save(ts.ones(2, 2), file)
    contents = changed(saved, edit("config", "part", "use_pickle", to=True), WEIGHTS)
    contents = changed(contents, edit("config", "part", "path_name", to="pickled"), WEIGHTS)
    whole = records(contents) | {"model/data/weights/pickled": file.getvalue()}
    assert loaded(zipped(whole)).state_dict["part"].tolist() == [[1.0] * 2] * 2
    file = io.BytesIO()
    ts.save([1], file)
    with pytest.raises(ArchiveError, match="not a tensor"):
        loaded(zipped(whole | {"model/data/weights/pickled": file.getvalue()}))


def test_conditions_are_computed_within_limits(saved):
    """Guard conditions are evaluated with bounded numbers: a huge power makes the guard fail."""
    data = changed(saved, edit("guards_code", to=["2 ** (L['x'].size()[0] * 1000000000) > 1"]))
    args, kwargs = example()
    with pytest.raises(AssertionError, match="Guard failed"):
        loaded(data).module()(*args, **kwargs)


def mutated(tree, source):
    """Return the JSON with one random entry changed."""
    tree = copy.deepcopy(tree)
    parts = list(leaf_paths(tree))
    path = source.choice(parts)
    owner = tree
    for key in path[:-1]:
        owner = owner[key]
    if source.random() < 0.3:
        del owner[path[-1]]
    else:
        junk = [
            None,
            True,
            -1,
            0,
            1 << 63,
            10**30,
            1.5,
            "",
            "x",
            "torch.ops.aten.add.Tensor",
            [],
            {},
            {"as_int": 5},
            owner,
        ]
        owner[path[-1]] = copy.deepcopy(source.choice(junk))
    return tree


def leaf_paths(tree, path=()):
    if path:
        yield path
    for key in tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield from leaf_paths(tree[key], (*path, key))


def test_damaged_files_load_or_raise_archive_error(saved):
    """Damaged JSON or bytes either load or raise ArchiveError."""
    source = random.Random(0)
    contents = records(saved)
    name = "model/models/model.json"
    tree = json.loads(contents[name])
    refused = 0
    for _ in range(60):
        try:
            loaded(zipped(contents | {name: json.dumps(mutated(tree, source)).encode()}))
        except ArchiveError:
            refused += 1
    for _ in range(60):
        data = bytearray(saved)
        data[source.randrange(len(data))] = source.randrange(256)
        try:
            loaded(bytes(data))
        except ArchiveError:
            refused += 1
    assert refused > 60


@pytest.mark.parametrize(
    "text", ["1 + 2 * x", "L['x'].size()[0] == 2", "f(a, b=True)", "not (a and b or c)", "-2 ** 3"]
)
def test_formulas_are_read(text):
    assert expr_parser.parse(text)


@pytest.mark.parametrize(
    "text", ["1 +", "(1", "a b", "f(,)", "x[1", "'a", "a < b < c", "x.1", "#", "(" * 200, "- " * 20000]
)
def test_invalid_expressions_are_rejected(text):
    with pytest.raises(ArchiveError):
        expr_parser.parse(text)


def test_readers_are_created_atomically(monkeypatch):
    """A concurrent read during the creation of a class's reader returns all fields."""
    from ts.export.pt2_format import json_codec, schema

    call = {"in_spec": "in", "out_spec": "out", "inputs": [], "outputs": [], "forward_arg_names": []}
    entry = {"fqn": "", "signature": call}
    read, plain, seen = json_codec._object_reader(schema.CallEntry), json_codec._reader, []

    def reader(kind):
        if kind is not str and len(seen) == 0:  # concurrent read between two fields
            seen.append(None)
            seen.append(read(entry, "").signature)
        return plain(kind)

    monkeypatch.setattr(json_codec, "_reader", reader)
    assert read(entry, "").signature is not None and seen[1] is not None
