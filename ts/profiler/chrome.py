"""Chrome traces (Trace Event Format, timeline) of profiler events, for chrome://tracing and Perfetto.

Input: profiler events. Output: a JSON object, in which "ts" (start) and "dur" (duration) are in microseconds:

    {"schemaVersion": 1,
     "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 12.5, "dur": 3.1, ...}]}
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ts.profiler.events import FunctionEvent

_CATEGORIES: Final = {
    "operator": "cpu_op",
    "function": "cpu_op",
    "label": "user_annotation",
    "stage": "python_function",
    "call": "rpc",
}


def trace(events: Iterable[FunctionEvent], metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the trace as a document in Chrome's format."""
    process = os.getpid()
    entries: list[dict[str, Any]] = []
    threads = set()
    for event in events:
        threads.add(event.thread)
        entry = {
            "ph": "X",
            "cat": _CATEGORIES[event.kind],
            "name": event.name,
            "pid": process,
            "tid": event.thread,
            "ts": round(event.time_range.start, 3),
            "args": _arguments(event),
        }
        # async events may overlap, so each is written as two entries, begin and end, with a common id
        if event.is_async:
            entries.append({**entry, "ph": "b", "id": event.id})
            entry |= {"ph": "e", "id": event.id, "ts": round(event.time_range.end, 3)}
        else:
            entry["dur"] = round(event.cpu_time_total, 3)
        entries.append(entry)
    names = [_metadata_event("process_name", process, 0, "ts")]
    names += [
        _metadata_event("thread_name", process, thread, f"thread {thread}") for thread in sorted(threads)
    ]
    return {
        **(metadata or {}),
        "schemaVersion": 1,
        "deviceProperties": [],
        "displayTimeUnit": "ms",
        "traceEvents": names + entries,
    }


def _metadata_event(event_name: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": event_name, "pid": process, "tid": thread, "ts": 0, "args": {"name": name}}


def _arguments(event: FunctionEvent) -> dict[str, Any]:
    arguments: dict[str, Any] = {"External id": event.id}
    if event.input_shapes:
        arguments["Input Dims"] = event.input_shapes
        arguments["Input type"] = event.input_types
    if event.stack:
        arguments["Call stack"] = ";".join(reversed(event.stack))
    if event.cpu_memory_usage:
        arguments["Bytes"] = event.cpu_memory_usage
    if event.kernel:
        arguments["Kernel"] = event.kernel
    if event.detail:
        arguments["Detail"] = event.detail
    return arguments


def write(path: Any, document: Mapping[str, Any]) -> None:
    """Write a document as JSON. If the file name ends in `.gz`, compress it."""
    document_json = json.dumps(document, indent=1)
    if str(path).endswith(".gz"):
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.write(document_json)
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(document_json)
