"""`torch.utils.tensorboard`: write event files with the package `tensorboard`.

The example writes one number to a file in the directory `runs/first`:

    with SummaryWriter("runs/first") as writer:
        writer.add_scalar("loss", loss, step)

Without the package `tensorboard`, this module can be imported, but `SummaryWriter` raises ImportError.
"""

from __future__ import annotations

from typing import Any

from ts.utils.tensorboard.writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]


def __getattr__(name: str) -> Any:
    if name == "RecordWriter":
        from tensorboard.summary.writer.record_writer import RecordWriter

        return RecordWriter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
