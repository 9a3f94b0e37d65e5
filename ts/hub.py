"""Model hub: loads models from local folders and weights from the cache. Downloads are not supported.

Each line shows a call and its effect:

    ts.hub.load("path/to/repository", "resnet18", source="local")     calls resnet18() of its hubconf.py
    ts.hub.load_state_dict_from_url(url)                              reads the cached file of this URL
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn
from urllib.parse import urlparse

import ts

__all__ = [
    "download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir",
]  # fmt: skip

ENV_TORCH_HOME = "TORCH_HOME"
ENV_XDG_CACHE_HOME = "XDG_CACHE_HOME"
DEFAULT_CACHE_DIR = "~/.cache"
ENV_GITHUB_TOKEN = "GITHUB_TOKEN"
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # hash in the name of a weights file
READ_DATA_CHUNK = 128 * 1024
MODULE_HUBCONF = "hubconf.py"
VAR_DEPENDENCY = "dependencies"

_hub_dir: str | None = None


class _SilentProgressBar:
    """Replacement of the progress bar `tqdm` that shows nothing."""

    def __init__(self, iterable: Iterable[Any] = (), **options: Any) -> None:
        self.iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def __enter__(self) -> _SilentProgressBar:
        return self

    def __exit__(self, *error: Any) -> None:
        """Do nothing, because no progress bar was printed."""

    def update(self, n: float = 1) -> None:
        """Ignore the progress."""


def __getattr__(name: str) -> Any:
    if name != "tqdm":
        raise AttributeError(f"module 'ts.hub' has no attribute {name!r}")
    spec = importlib.util.find_spec("tqdm")
    return _SilentProgressBar if spec is None else importlib.import_module("tqdm").tqdm


def _get_torch_home() -> str:
    """Return PyTorch's cache folder: $TORCH_HOME, or the folder `torch` in the user's cache folder."""
    cache = os.getenv(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR)
    return os.path.expanduser(os.getenv(ENV_TORCH_HOME, os.path.join(cache, "torch")))


def get_dir() -> str:
    """Return the folder of the hub: the folder set by `set_dir`, or PyTorch's default."""
    if os.getenv("TORCH_HUB"):
        warnings.warn("TORCH_HUB is deprecated, please use env TORCH_HOME instead", stacklevel=2)
    return os.path.join(_get_torch_home(), "hub") if _hub_dir is None else _hub_dir


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder of the hub."""
    global _hub_dir
    _hub_dir = os.path.expanduser(d)


def load(
    repo_or_dir: str | os.PathLike[str], model: str, *args: Any, source: str = "github", **kwargs: Any
) -> Any:
    """Return the result of `model(*args, **kwargs)`, an entry point in the folder's `hubconf.py`.

    Raises NotImplementedError for a repository that must be downloaded, and RuntimeError for an unknown entry
    point.
    """
    for option in ("trust_repo", "force_reload", "verbose", "skip_validation"):
        kwargs.pop(option, None)
    return _entry(_hubconf(repo_or_dir, source, f"load({repo_or_dir!r}, {model!r})"), model)(*args, **kwargs)


def list(github: str | os.PathLike[str], *args: Any, source: str = "github", **kwargs: Any) -> Any:
    """Return the names of the entry points in the `hubconf.py` of a folder."""
    module = _hubconf(github, source, f"list({github!r})")
    return [name for name, f in vars(module).items() if callable(f) and not name.startswith("_")]


def help(
    github: str | os.PathLike[str], model: str, *args: Any, source: str = "github", **kwargs: Any
) -> str | None:
    """Return the docstring of an entry point in the `hubconf.py` of a folder."""
    docstring: str | None = _entry(_hubconf(github, source, f"help({github!r}, {model!r})"), model).__doc__
    return docstring


def _hubconf(folder: str | os.PathLike[str], source: str, call: str) -> ModuleType:
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise NotImplementedError(
            f"hub.{call} is not implemented: downloads are unsupported; clone the repository and pass its "
            'folder with source="local"'
        )
    path = Path(folder, MODULE_HUBCONF)
    spec = importlib.util.spec_from_file_location("hubconf", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    missing_modules = [
        name for name in getattr(module, VAR_DEPENDENCY, []) if not importlib.util.find_spec(name)
    ]
    if missing_modules:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing_modules)}")
    return module


def _entry(module: ModuleType, name: str) -> Callable[..., Any]:
    entry = getattr(module, name, None)
    if not callable(entry):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return entry  # type: ignore[no-any-return]


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> NoReturn:
    """Raise NotImplementedError, because downloads are not supported."""
    raise NotImplementedError(
        f"hub.download_url_to_file({url!r}) is not implemented: downloads are unsupported; save the "
        f"file as {dst}"
    )


def load_state_dict_from_url(
    url: str,
    model_dir: str | os.PathLike[str] | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Mapping[str, Any]:
    """Return the weights in the cached file of a URL in `model_dir` (default: `get_dir()/checkpoints`).

    Raises NotImplementedError if the file does not exist, because downloads are not supported.
    """
    folder = Path(get_dir(), "checkpoints") if model_dir is None else Path(model_dir)
    path = folder / (file_name or os.path.basename(urlparse(url).path))
    if not path.exists():
        raise NotImplementedError(
            f"hub.load_state_dict_from_url({url!r}) is not implemented: downloads are unsupported; save the "
            f"file as {path}"
        )
    state_dict: Mapping[str, Any] = ts.load(path, map_location=map_location, weights_only=weights_only)
    return state_dict
