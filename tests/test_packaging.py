"""What gets installed is what the tree holds."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def folders(top: str, package: str) -> set[str]:
    """The packages under a top-level folder, by the names they are installed under."""
    return {
        ".".join([package, *init.parent.relative_to(ROOT / top).parts]) for init in (ROOT / top).rglob("__init__.py")
    }


def test_every_package_is_listed():
    """pyproject.toml lists each package once, so that no wheel lacks one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = project["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(folders("ts", "ts") | folders("backends", "ts.backends"))


def test_only_numpy_and_ml_dtypes_are_required():
    """Everything else is imported where it is used."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert sorted(r.split(">")[0] for r in project["project"]["dependencies"]) == ["ml_dtypes", "numpy"]
