"""Imports between packages are one-way, and `import ts` loads few modules."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ts
from ts import passes
from ts._core import late_binding
from tests.import_graph import ROOT, cycles, edges, files, with_packages

VOCABULARY = "errors dtypes devices unsupported module_names version _core.late_binding"  # importable from every layer

# Packages from the lowest to the highest layer with the packages that each may import besides itself and the
# vocabulary; a package includes its subpackages. `ts` is the package itself, a table of the public names,
# for code of higher layers. Imports inside of functions count too: they serve lazy loading and must not
# import upwards.
MAY_IMPORT = {
    "_core.value.build_lock": "",
    "_core.late_binding": "_core.value.build_lock",
    "errors": "",
    "dtypes": "",
    "devices": "_core.late_binding",
    "unsupported": "",  # names that are not implemented
    "module_names": "",
    # the runtime: memory, values, tensors, dispatch, interpreter
    "_core.private_mapping": "",
    "_core.shared_memory": "",
    "_core.thread": "",
    "_core.value": "_core.thread",
    "_core.tensor": "_core.private_mapping _core.shared_memory _core.thread _core.value",
    "_core.dispatch": "_core.thread _core.value _core.tensor",
    "_core.vm": "_core.thread _core.value _core.tensor _core.dispatch",
    "_core.assembler": "_core.thread _core.vm",
    "_core.autograd": "_core.thread _core.value _core.tensor _core.dispatch _core.vm",
    "_core.dispatch_layers": "_core.thread _core.value _core.tensor _core.dispatch _core.vm _core.autograd",
    "_core.builtin_ops": "_core.thread _core.value _core.tensor _core.dispatch _core.vm",
    "_core": "",
    "import_hook": "_core",
    "backends": "_core",
    "ir": "_core.thread",
    # operators, analyses and passes
    "ops": "_core backends ir",
    "analysis": "_core.thread _core.builtin_ops ir ops",
    "fusion": "_core backends ir ops",
    "passes": "_core ir ops analysis fusion",
    "passes.freezing": "_core ir ops analysis passes",
    "passes.pytorch": "_core ir ops analysis passes",
    "passes.tracing": "_core ir ops analysis passes",
    "bytecode": "_core ir ops analysis fusion passes",
    "frontend": "_core ir ops analysis passes",
    # packages that use operators, in Python or in the scripted subset
    "profiler": "_core ops backends",
    "autograd": "ts _core profiler",
    "fft": "ops",
    "linalg": "ops",
    "special": "ops",
    "_VF": "ops _core",
    "functional": "ts _core ops frontend linalg",
    "python_api": "ts _core backends linalg",
    "signal": "_core",
    "sparse": "ts _core ops python_api",
    "masked": "ts _core linalg",
    "futures": "_core",
    "compiler": "_core frontend",
    "distributed.transport": "_core.shared_memory",
    "distributed": "_core futures",
    # mixed precision and CUDA devices
    "amp": "_core backends autograd ts",
    "cuda": "_core backends ops amp python_api",
    # layers, training
    "random": "_core ops cuda",
    "func": "ts _core random",
    "__future__": "",
    "nn": "ts _core ops frontend autograd func linalg compiler distributed cuda __future__",
    "optim": "ts _core nn ops autograd python_api sparse",
    "distributions": "ts _core nn autograd linalg special",
    "testing": "ts _core ir",
    # other devices under PyTorch's names
    "accelerator": "cuda",
    "cpu": "amp",
    "mps": "",
    "xpu": "",
    "_vmap_internals": "func",
    "overrides": "ts _core",
    "return_types": "_core ops",
    "quasirandom": "ts _core random",
    # compiled functions and packages that use them
    "archive": "_core ir ops passes bytecode frontend nn",
    "runtime": "fusion _core ir ops analysis passes bytecode frontend nn archive",
    "ops.derivatives": "ts _core ops fusion fft linalg special functional nn runtime",
    "ops.vmap_rules": "ts _core ops",
    "autodiff": "_core ir ops fusion passes bytecode ops.derivatives",
    "tracing": "_core ir ops passes frontend autograd runtime",
    "jit": "_core ir ops passes frontend nn archive runtime tracing",
    "serialization": "_core archive jit",
    "hub": "ts serialization",
    "utils": "ts _core ops cuda nn random autograd python_api hub distributed overrides",
    "utils.tensorboard": "ts _core jit runtime utils",
    "_higher_order_ops": "ts _core amp ops frontend autograd func nn overrides tracing utils",
    "_functorch": "ts _core _higher_order_ops unsupported func nn utils",
    "fx": "ts _core ir ops python_api futures frontend nn archive runtime utils",
    "functorch": "ts _core _functorch _higher_order_ops unsupported func fx",
    "export": "ts _core compiler backends ir ops autograd amp func _higher_order_ops _functorch python_api tracing nn archive runtime passes testing utils fx",
    "_subclasses": "ts _core ops autograd _higher_order_ops export nn tracing utils",
    "utils._python_dispatch": "ts _core ops export tracing",
    "utils.flop_counter": "ts _core ops nn utils utils._python_dispatch",
    "fx.experimental.proxy_tensor": "ts _core nn ops fx utils utils._python_dispatch _subclasses",
    "report": "ts _core python_api ir fusion passes bytecode profiler runtime",
    "debugger": "_core ir bytecode frontend runtime jit",
    "serve": "ts _core ir ops frontend autograd python_api random runtime jit",
    "distributed.wire_values": "_core nn archive",
    "distributed.object_collectives": "_core distributed distributed.wire_values",
    "distributed.dist_autograd": "ts _core autograd distributed distributed.wire_values",
    "distributed.rpc": "ts _core ops ir bytecode frontend nn archive runtime optim distributed distributed.transport distributed.wire_values distributed.dist_autograd",
    "distributed.autograd": "_core distributed distributed.dist_autograd distributed.rpc",
    "distributed.run": "ts cuda distributed",
    "distributed.launch": "distributed distributed.run",
    "distributed.optim": "_core optim distributed distributed.rpc",
    "distributed.cluster": "distributed distributed.transport distributed.rpc runtime",
    "cli": "ts _core backends ir ops analysis passes frontend nn autograd archive profiler report random runtime jit serialization debugger serve export utils distributed distributed.rpc distributed.cluster",
    "__main__": "cli",
    # modules that exist for PyTorch's names
    "__config__": "ts _core backends python_api",
    "_dynamo": "compiler",
    "torch_version": "",
    "as_torch": "ts import_hook",
    "library": "ts _core ops autograd utils",
    "_C": "ir analysis passes runtime",
    "_jit_internal": "frontend futures",
    "multiprocessing": "_core",
    "types": "_core ir",
    "_utils": "ts _core cuda python_api nn",
    "_tensor_str": "_core unsupported",
    "classes": "ops",
    "version": "",
}  # fmt: skip

MAX_CYCLE_MODULES = 9  # number of modules in one concept, such as a tensor and its indexing


def package_of(module):
    """Return the longest name in the layering table that contains a module; "ts" for the package itself."""
    name = module.removeprefix("ts.")
    while name not in MAY_IMPORT and "." in name:
        name = name.rpartition(".")[0]
    return name


def forbidden_imports():
    """Yield the imports that the layering table forbids."""
    for edge in edges():
        importer, imported = package_of(edge.importer), package_of(edge.imported)
        allowed = f"{VOCABULARY} {importer} {MAY_IMPORT.get(importer, '')}".split()
        if importer != "ts" and not any(f"{imported}.".startswith(f"{each}.") for each in allowed):
            yield edge


def large_cycles(imports):
    """Return the import cycles of more than `MAX_CYCLE_MODULES` modules, except in the package table."""
    result = cycles(with_packages(e for e in imports if e.importer != "ts"))
    return [sorted(cycle) for cycle in result if len(cycle) > MAX_CYCLE_MODULES]


@pytest.mark.parametrize("name", sorted({package_of(module) for module in files().values()} - {"ts"}))
def test_packages_import_only_allowed_packages(name):
    """A package is in the layering table, and its files import only allowed packages, including imports in
    functions."""
    assert name in MAY_IMPORT
    results = [e for e in forbidden_imports() if package_of(e.importer) == name]
    assert not results, "\n".join(f"{e.importer} imports {e.imported} in line {e.line}" for e in results)


def test_packages_import_only_earlier_packages():
    """A package may import only packages above it in the layering table."""
    packages = list(MAY_IMPORT)
    for position, name in enumerate(packages):
        assert set(MAY_IMPORT[name].split()) <= {"ts", *packages[:position]}, name


def test_pipelines_import_no_passes_on_request():
    """Modules of the pipelines do not import passes of freezing, tracing and `ts._C`."""
    packages = {"passes.freezing", "passes.pytorch", "passes.tracing"}
    assert not [e for e in edges() if package_of(e.importer) == "passes" and package_of(e.imported) in packages]


def test_modules_of_subpackages_are_attributes_of_passes():
    """`ts.passes.NAME` is each module of the subpackages; no name is in two of them or in `ts.passes` itself."""
    own = {path.stem for path in Path(passes.__path__[0]).glob("*.py")}
    for package, listed in passes.MODULES_OF_SUBPACKAGES.items():
        files_of_package = {path.stem for path in (Path(passes.__path__[0]) / package).glob("[!_]*.py")}
        assert set(listed.split()) == files_of_package and not own & files_of_package
        for name in files_of_package:
            assert getattr(passes, name).__name__ == f"ts.passes.{package}.{name}"
            own.add(name)
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        passes.missing


def test_no_large_import_cycles():
    """No import cycle, including imports inside of functions, has more than `MAX_CYCLE_MODULES` modules."""
    assert large_cycles(edges()) == []


def test_late_binding_provides_existing_names():
    """Each row of the late-binding table names an existing module and attribute, and each is used."""
    used = {name for path in files() for name in re.findall(r'\bresolve\("(\w+)"', path.read_text())}
    used |= {"check_narrow_float", "check_narrow_complex", "narrow_float_kernel"}  # names that are selected by a tensor's dtype
    assert used >= set(late_binding._PROVIDERS)
    for name in late_binding._PROVIDERS:
        assert late_binding.resolve(name) is not None


def test_command_line_is_not_imported():
    """Only `python -m ts` imports the command line."""
    assert {e.importer for e in edges() if package_of(e.imported) == "cli" and package_of(e.importer) != "cli"} <= {"ts.__main__"}


def test_import_is_lazy():
    """`import ts` alone loads neither a compiler stage nor NumPy."""
    code = "import sys, ts; print([m for m in sys.modules if m.startswith('ts.') or m == 'numpy'])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['ts.module_names', 'ts.import_hook']"
    code = "import sys; before = set(sys.modules); import ts; print('typing' in set(sys.modules) - before)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_imports_without_pytorch():
    """Compiling and running never imports PyTorch."""
    code = "import sys, ts\nts.jit.CompilationUnit('def f(x: int) -> int:\\n    return x + 1\\n').f(1)\nprint('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_packages_are_documented():
    """`docs/reference/packages.md` lists each package."""
    page = (ROOT / "docs/reference/packages.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    documented = {name.replace("/", ".") for row in rows for name in row.replace("`", "").replace(",", " ").split()}
    assert documented - {"frontend.ir_emitter", "frontend.sugared_values"} == {*MAY_IMPORT} - {"_core"}


def test_any_extension_can_come_first():
    """Each compiled module, and each tensor module, can be the first import of a process."""
    first = ("ts._core.tensor.", "ts._core.shared_memory")
    names = sorted({m for path, m in files().items() if path.suffix == ".pyx" or (path.suffix == ".py" and m.startswith(first))})
    code = """
import importlib, os, sys
import numpy
wrong = []
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(name, type(error).__name__, error, flush=True)
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        wrong.append(name)
print(wrong)
"""
    done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, check=True)
    assert len(names) > 60 and done.stdout.strip() == "[]"


def test_loading_needs_no_writing(tmp_path):
    """Loading and calling an archive does not import modules for writing: OpenSSL hashes, temporary files,
    SciPy."""
    ts.jit.save(ts.jit.CompilationUnit("def f(x):\n    return x + 1\n").f, tmp_path / "f.pt")
    code = f"import sys, ts\nts.jit.load({str(tmp_path / 'f.pt')!r})(ts.ones(2))\nprint([m for m in ('hashlib', 'tempfile', 'scipy', 'torch', 'ts.archive.module_writer') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
