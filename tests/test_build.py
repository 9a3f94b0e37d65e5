"""Build script: rebuild conditions, build options and error messages."""

import importlib
import os
import runpy
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from setuptools import Distribution, Extension

from ts.ir import node

ROOT = Path(__file__).resolve().parents[1]


def read_setup(monkeypatch, **environment):
    """Return the global names of setup.py run with the given environment, without running the build."""
    for name in ("TS_CHECKED", "TS_COMPILED", "TS_SANITIZE", "TS_JOBS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(ROOT / "setup.py"))


def build(**environment):
    """Run the build in the source tree; only for builds that stop before compilation."""
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=60
    )


def test_missing_compiler_is_reported_first():
    """A missing compiler is reported before Cython runs, with the package to install."""
    done = build(CC="no-such-compiler")
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert line.startswith(
        "error: ts needs a C compiler, gcc or clang, and Python's headers: 'no-such-compiler' cannot"
    )
    assert "build-essential" in line and "Traceback" not in done.stderr
    assert "Cythonizing" not in done.stdout and "Compiling" not in done.stdout


def test_indirect_headers_are_dependencies(monkeypatch, tmp_path):
    """Dependencies include headers included by headers, which Cython does not find."""
    (tmp_path / "outer.h").write_text('#include <math.h>\n#include "inner.h"\n#include "elsewhere.h"\n')
    (tmp_path / "inner.h").write_text('  # include "innermost.h"\n')
    (tmp_path / "innermost.h").write_text("")
    result = read_setup(monkeypatch)["with_included_headers"]([str(tmp_path / "outer.h"), "<stdio.h>", "Python.h"])
    assert [Path(header).name for header in result] == ["inner.h", "innermost.h", "outer.h"]


def test_kinds_of_builds_differ(monkeypatch):
    """Each kind of build has different flags, so that a change of kind triggers a rebuild."""
    kinds = [{}, {"TS_CHECKED": "1"}, {"TS_SANITIZE": "address"}, {"TS_SANITIZE": "address,undefined"}]
    read = [read_setup(monkeypatch, **kind)["compile_options"]() for kind in kinds]
    assert len(set(read)) == len(kinds)
    assert read_setup(monkeypatch, TS_CHECKED="0")["compile_options"]() == read[0]


def test_checked_build_enables_checks(monkeypatch):
    """The checked build enables the bounds and initialization checks that the ordinary build disables."""
    checks = ("boundscheck", "initializedcheck")
    assert not any(read_setup(monkeypatch)["DIRECTIVES"][check] for check in checks)
    assert all(read_setup(monkeypatch, TS_CHECKED="1")["DIRECTIVES"][check] for check in checks)


def test_flags_of_each_compiler(monkeypatch):
    """Compiler flags define integer overflow and disable strict aliasing, in clang-cl's spelling on
    Windows."""
    flags = read_setup(monkeypatch)["FLAGS_OF"]
    assert {"-fwrapv", "-fno-strict-aliasing", "-O3"} <= set(flags["unix"])
    assert {"/clang:-fwrapv", "/clang:-fno-strict-aliasing", "/O2"} <= set(flags["msvc"])
    assert "/O1" in read_setup(monkeypatch, TS_CHECKED="1")["FLAGS_OF"]["msvc"]


def test_clang_is_found_in_visual_studio(monkeypatch, tmp_path):
    """clang-cl is found by the variable of Visual Studio's shell; otherwise the error names it."""
    program = tmp_path / "VC" / "Tools" / "Llvm" / "x64" / "bin" / "clang-cl"
    program.parent.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o755)
    build = read_setup(monkeypatch)["BuildExtensions"]
    command = build.__new__(build)
    command.compiler = SimpleNamespace(initialize=lambda: None, cc="cl.exe")
    monkeypatch.setenv("PATH", "")
    command.use_clang_cl()
    assert command.compiler.cc == "clang-cl"
    monkeypatch.setenv("VSINSTALLDIR", str(tmp_path))
    command.use_clang_cl()
    assert command.compiler.cc == str(program)


@pytest.mark.parametrize("jobs", [1, 3])
def test_number_of_jobs(monkeypatch, jobs):
    """`TS_JOBS` limits parallel compilations on machines with little memory."""
    assert read_setup(monkeypatch, TS_JOBS=str(jobs))["jobs"]() == jobs


def test_stamp_covers_all_sources(monkeypatch, tmp_path):
    """The build stamp, a key of the code cache, changes with contents, names and compile options of the
    sources."""

    def stamp(**environment):
        names = read_setup(monkeypatch, **environment)
        monkeypatch.setitem(names["build_fingerprint"].__globals__, "ROOT", tmp_path)
        return names["build_fingerprint"]()

    (tmp_path / "ts").mkdir()
    (tmp_path / "backends").mkdir()
    source = tmp_path / "backends" / "one.pyx"
    results = [stamp(), stamp(TS_CHECKED="1")]
    source.write_text("x = 1\n")
    results.append(stamp())
    source.write_text("x = 2\n")
    results.append(stamp())
    source.rename(source.with_name("two.pyx"))
    results.append(stamp())
    assert len(set(results)) == len(results) and results[-1] == stamp()
    (tmp_path / "ts" / "made.c").write_text("")
    assert results[-1] == stamp()


def test_build_progress(monkeypatch, tmp_path, capsys):
    """The build prints progress every few seconds and writes it to a file, because pip hides output; short
    builds print nothing."""
    names = read_setup(monkeypatch, TS_PROGRESS=str(tmp_path / "progress"))
    build = names["BuildExtensions"]
    monkeypatch.setattr(names["build_ext"], "build_extension", lambda self, ext: None)

    def lines_after(seconds):
        moments = iter(range(0, 1000, seconds))
        monkeypatch.setattr("time.monotonic", lambda: next(moments))
        command = build(Distribution())
        command.extensions = [Extension(f"ts._core.part{i}", []) for i in range(6)]
        for extension in command.extensions:
            command.build_extension(extension)
        return capsys.readouterr().out.splitlines()

    assert lines_after(1) == []
    lines = lines_after(6)
    assert lines == ["[2/6] ts/_core/part1", "[4/6] ts/_core/part3", "[6/6] ts/_core/part5"]
    assert (tmp_path / "progress").read_text().splitlines() == lines


def test_translation_progress(monkeypatch, tmp_path, capsys):
    """The build prints the number of translated files after every ten files, and counts only new files."""
    names = read_setup(monkeypatch, TS_PROGRESS=str(tmp_path / "progress"))
    report = names["report_new_files"]
    monkeypatch.setitem(report.__wrapped__.__globals__, "POLLING_INTERVAL", 0.001)
    paths = [tmp_path / f"{i}.c" for i in range(30)]
    for path in paths[:5]:
        path.write_text("old")

    def write_until(line, new):
        for path in new:
            path.write_text("new")
        deadline = time.monotonic() + 30
        while line not in (tmp_path / "progress").read_text().splitlines():
            assert time.monotonic() < deadline
            time.sleep(0.001)

    (tmp_path / "progress").write_text("")
    with report(paths, "translated {} files"):
        write_until("translated 10 files", paths[5:15])
        write_until("translated 21 files", paths[15:25] + paths[:1])
    assert capsys.readouterr().out.splitlines()[-1] == "translated 21 files"
    with report(paths, "translated {} files"):
        time.sleep(0.01)
    assert capsys.readouterr().out == ""


def test_compiled_modules(monkeypatch):
    """mypyc compiles wheels only, and no class that derives from a class of a Cython module."""
    script = read_setup(monkeypatch)
    assert not script["COMPILED"] and read_setup(monkeypatch, TS_COMPILED="1")["COMPILED"]
    monkeypatch.setattr(sys, "argv", ["setup.py", "bdist_wheel"])
    assert read_setup(monkeypatch)["COMPILED"]
    assert not read_setup(monkeypatch, TS_COMPILED="0")["COMPILED"] and not read_setup(monkeypatch, TS_CHECKED="1")["COMPILED"]
    assert all((ROOT / name).exists() for name in script["INTERPRETED"])
    files = script["compiled_files"]()
    assert "ts/ir/node.py" in files and not any(name.startswith("ts/ir/types/") for name in files)
    for name in files:
        module = importlib.import_module(name.removesuffix(".py").replace("/", "."))
        for cls in [x for x in vars(module).values() if isinstance(x, type) and x.__module__ == module.__name__]:
            origins = {base.__module__.partition(".")[0] + "." + base.__module__.split(".")[1] for base in cls.__mro__ if "." in base.__module__}
            assert "ts._core" not in origins and "ts.backends" not in origins, cls


def test_stack_checks(monkeypatch, tmp_path):
    """Functions that call others check the C stack, and return the error value of their result type."""
    path = tmp_path / "module.c"
    path.write_text(
        "PyObject *CPyDef_f(PyObject *cpy_r_x);\n"
        "PyObject *CPyDef_f(PyObject *cpy_r_x) {\n    PyObject *cpy_r_r0;\n    cpy_r_r0 = CPyDef_g(cpy_r_x);\n}\n"
        "char CPyDef_g(PyObject *cpy_r_x) {\n    char cpy_r_r0;\n    return PyObject_CallNoArgs(cpy_r_x) != NULL;\n}\n"
        "CPyTagged CPyDef_leaf(CPyTagged cpy_r_x) {\n    return cpy_r_x;\n}\n"
    )
    assert read_setup(monkeypatch)["insert_stack_checks"](path) == 2
    lines = path.read_text().split("\n")
    checks = [(lines[i - 1].partition("(")[0], line.strip()) for i, line in enumerate(lines) if "TS_CHECK_STACK" in line]
    assert checks == [("PyObject *CPyDef_f", "TS_CHECK_STACK(NULL)"), ("char CPyDef_g", "TS_CHECK_STACK(2)")]


@pytest.mark.skipif(os.environ.get("TS_COMPILED") != "1", reason="the modules are interpreted")
def test_modules_are_compiled():
    """`make compiled` tests the compiled modules, and not the Python files."""
    assert Path(node.__file__).suffix in (".so", ".pyd")
