"""Models from the network: refused, as their code is written for PyTorch and would be run unseen.

ts.hub.load("pytorch/vision", "resnet18")          NotImplementedError that says what to do
"""

from __future__ import annotations

from typing import Any, NoReturn


def load(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused."""
    raise NotImplementedError(
        f"hub.load({repo_or_dir!r}, {model!r}) is not implemented: nothing is downloaded; install the "
        "package that has the model, and load its weights from a file with `ts.load`"
    )


def load_state_dict_from_url(url: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused."""
    raise NotImplementedError(
        f"hub.load_state_dict_from_url({url!r}) is not implemented: nothing is downloaded; fetch the file "
        "and load it with `ts.load`"
    )
