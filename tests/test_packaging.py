"""The contents of distributions equal the tree."""

import fcntl
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

import ts

ROOT = Path(__file__).resolve().parents[1]


def folders(top: str, package: str) -> set[str]:
    """Return the packages under a top-level folder, by their installed names."""
    return {
        ".".join([package, *init.parent.relative_to(ROOT / top).parts])
        for init in (ROOT / top).rglob("__init__.py")
    }


def test_every_package_is_listed():
    """pyproject.toml lists each package once."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = project["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(folders("ts", "ts") | folders("backends", "ts.backends"))


def test_required_dependencies():
    """The required dependencies are NumPy, its small dtypes, and optree with its requirement; others are
    optional."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert sorted(r.split(">")[0] for r in project["project"]["dependencies"]) == [
        "ml_dtypes", "numpy", "optree", "typing_extensions",
    ]  # fmt: skip


def test_versions_agree():
    """pyproject.toml and `ts.version` state the same version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["version"] == ts.version.ts


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """Return the files of a source distribution, built by one process at a time because setuptools writes to
    the tree."""
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "setup.py", "-q", "egg_info", "-e", str(folder), "sdist", "-d", str(folder)]
    with (ROOT / "setup.py").open() as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        return {name.partition("/")[2] for name in tar.getnames()}


@pytest.mark.parametrize("folder", ["ts", "backends", "docs", "examples", "tests", "benchmarks"])
def test_a_source_distribution_is_the_tree(shipped, folder):
    """A source distribution contains the whole tree except generated files: compiled code, the interpreter loop, opcodes
    and images of examples."""
    generated_suffixes = {".c", ".so", ".pyc"} | ({".png"} if folder == "examples" else set())
    paths = {
        path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    paths = {
        path
        for path in paths
        if path.suffix not in generated_suffixes and path.name not in {"opcodes.pxd", "interp.pyx"}
    }
    expected = {str(path.relative_to(ROOT)) for path in paths}
    assert {name for name in shipped if name.startswith(f"{folder}/") and Path(name).suffix} == expected


def test_a_source_distribution_builds(shipped):
    """A source distribution contains the build files and the project's documents."""
    assert shipped >= {
        "setup.py",
        "pyproject.toml",
        "Makefile",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
    }


def test_unbuilt_sources_raise_an_import_error(tmp_path):
    """Importing unbuilt sources raises a one-line ImportError with the build command."""
    (tmp_path / "ts" / "_core" / "vm").mkdir(parents=True)
    shutil.copy(ROOT / "ts" / "__init__.py", tmp_path / "ts")
    done = subprocess.run([sys.executable, "-c", "import ts"], cwd=tmp_path, capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(
        f"ImportError: ts is imported from its sources in {tmp_path}, where ts._core.vm.interp is not built: run"
    )
    assert "`pip install -e .`" in last and "another folder" in last
