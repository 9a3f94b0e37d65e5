"""Stubs are generated from the records, contain every name, and have the actual result types."""

import ast
import runpy
import subprocess
import sys
import warnings
from importlib import import_module
from types import ModuleType

import pytest

import ts
from ts.unsupported.placeholders import is_placeholder
from tests import regenerate, samples, stubs, type_checkers
from ts._core.dispatch.overloads import overloads
from ts.ops import registry


def test_the_stubs_are_current():
    """The stubs are current (`python -m tests.regenerate`; --check prints differences)."""
    assert regenerate.differences(stubs.stubs()) == ""


def test_a_difference_is_shown(tmp_path, monkeypatch, capsys):
    """`--check` writes nothing, prints a diff and the command, and fails."""
    page = stubs.ROOT / "ts" / "special.pyi"
    old = page.read_text()
    monkeypatch.setattr(regenerate, "texts", lambda: {page: old.replace("def expit", "def expt")})
    assert regenerate.main(["--check"]) == 1
    output = capsys.readouterr().out
    assert "-def expit(" in output and "+def expt(" in output and "run `python -m tests.regenerate`" in output
    assert page.read_text() == old
    monkeypatch.setattr(regenerate, "texts", lambda: {page: old})
    assert regenerate.main(["--check"]) == 0 and capsys.readouterr().out == ""


def names_of(path):
    """Return the names in a stub by class, with "" for the module."""
    names: dict[str, set[str]] = {"": set()}

    def enter(body, where):
        for node in body:
            if isinstance(node, ast.ClassDef):
                names[where].add(node.name)
                names.setdefault(node.name, set())
                enter(node.body, node.name)
            elif isinstance(node, ast.FunctionDef):
                names[where].add(node.name)
            elif isinstance(node, ast.AnnAssign):
                names[where].add(node.target.id)
            elif isinstance(node, ast.ImportFrom):
                names[where].update(alias.asname for alias in node.names if alias.asname == alias.name or (alias.asname and not alias.asname.startswith("_")))

    enter(ast.parse(path.read_text()).body, "")
    return names


PACKAGES = ["ts", "ts.linalg", "ts.fft", "ts.special", "ts.nn", "ts.nn.modules", "ts.nn.functional", "ts.jit"]


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_match_their_stubs(package):
    """The names in a stub equal the public names of the package."""
    module = import_module(package)
    path = stubs.ROOT / package.replace(".", "/")
    stub = names_of(path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi"))[""]
    imported_names = {"annotations", "TYPE_CHECKING", "Any", "Final", "import_lock", "names_for", "missing_attribute"}  # names that the module imports
    public_names = {name for name in dir(module) if not name.startswith("_")} - imported_names
    values = {name: getattr(module, name) for name in public_names}
    results = {n for n, x in values.items() if not isinstance(x, ModuleType) and not is_placeholder(x)}
    assert sorted(results - stub) == []
    assert sorted(name for name in stub if not hasattr(module, name)) == []


def test_tensors_match_their_stub():
    """The stub of Tensor lists exactly the attributes of the class."""
    registry.load()
    import ts._core.autograd.tensor_methods

    core = stubs.ROOT / "ts" / "_core" / "tensor"
    stub = names_of(core / "tensor.pyi")["Tensor"] | names_of(core / "methods.pyi")["OperatorMethods"]
    names = set(dir(ts.Tensor))
    assert sorted(name for name in stub if name not in names) == []
    inherited = {"__dict__", "__array_priority__", "__module__", "__doc__", "__reduce__", "__reduce_ex__", "__setstate__", "__pyx_vtable__"}
    lists = {name for name in registry.python_names("m") if not stubs.functions(name, method=True)}  # operators on lists of tensors
    mentioned = {name for name in names if name not in dir(object) and name not in inherited | lists}
    assert sorted(name for name in mentioned - stub if not name.startswith("_")) == []
    assert {"__add__", "__radd__", "__eq__", "__getitem__", "__len__"} <= stub


def test_valid_uses_run():
    """The valid uses for type checkers run without errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(type_checkers.FILES["valid_uses"]))


def test_inferred_types_equal_value_types():
    """The types inferred by checkers are the types of the values."""
    text = type_checkers.FILES["reveal"].read_text()
    checked = []

    def assert_type(value, kind):
        kind = getattr(kind, "__origin__", kind)
        assert isinstance(value, kind), (value, kind)
        checked.append(value)

    scope = {"__name__": "reveal"}
    exec(compile(text.replace("from typing_extensions import assert_type", ""), str(type_checkers.FILES["reveal"]), "exec"), scope | {"assert_type": assert_type})
    assert len(checked) == text.count("\nassert_type(")


KINDS = {
    "Tensor": ts.Tensor, "Tensor | None": (ts.Tensor, type(None)), "tuple[Tensor, ...]": tuple, "Real": (int, float, complex), "PyInt": int, "PyFloat": float,
    "Bool": bool, "Str": str, "PyComplex": complex, "tuple[PyInt, ...]": tuple, "dtype": ts.dtype, "device": ts.device, "None": type(None),
}  # fmt: skip


def test_results_have_their_types():
    """Results of operator samples have the types of the stubs, for at least a thousand operators."""
    called = 0
    wrong = []
    registry.load()
    for record in registry.records():
        name = record.name.removeprefix("aten::")
        if record.variant == "out" or "::" in name or record.where == "" or record.calls_programs or name == "_unpack_dual":  # no public name
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args = samples.arguments(record, ts.float32)
        if args is None:
            continue
        try:
            with warnings.catch_warnings(), ts.set_grad_enabled(ts.is_grad_enabled()):
                warnings.simplefilter("ignore")
                op, _, _ = overloads(name).resolve(tuple(args), {})
                result = overloads(name)(*args)
        except (*samples.REJECTION_ERRORS, AttributeError):
            continue
        result_type = stubs._result(name, op.signature)
        kind = tuple if result_type.startswith(("named_results.", "tuple[")) else KINDS.get(result_type, object)
        if not isinstance(result, kind):
            wrong.append((record.key, result_type, type(result)))
        if result_type.startswith("named_results.") and not hasattr(result, "_fields"):
            wrong.append((record.key, result_type, type(result)))
        called += 1
    assert wrong == []
    assert called > 1000


@pytest.mark.long
@pytest.mark.parametrize("checker", type_checkers.CHECKERS)
def test_type_checkers(checker):
    """Type checkers accept 200 valid uses and reject 200 invalid ones at their lines."""
    if type_checkers.missing(checker):
        pytest.skip(f"{checker} is not installed (extra dev)")
    assert type_checkers.problems(checker) == []


def test_number_of_uses():
    """There are at least 200 valid and 200 invalid uses."""
    right = [line for line in type_checkers.FILES["valid_uses"].read_text().split("\n") if line and not line.startswith((" ", "#", "@", "def", "class", "import", "from"))]
    assert len(right) >= 200 and len(type_checkers.mistakes()) >= 200


def test_generated_as_a_command():
    """`--help` of `tests.regenerate` lists its options."""
    done = subprocess.run([sys.executable, "-m", "tests.regenerate", "--help"], capture_output=True, text=True, cwd=stubs.ROOT, check=True)
    assert "--check" in done.stdout
