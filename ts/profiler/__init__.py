"""Time and memory profiler, with the API of PyTorch.

The example profiles one call, and reports its operators as a table and as a timeline:

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        with record_function("attention"):
            model(x)
    print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
    prof.export_chrome_trace("trace.json")        # for chrome://tracing and ui.perfetto.dev

Events are operators, fusion groups, functions called from Python, labels (`record_function`), compiler
stages, and calls of other processes.
"""

from ts.profiler.profile import (
    ProfilerActivity,
    kineto_available,
    profile,
    supported_activities,
    tensorboard_trace_handler,
)
from ts.profiler.profiler_ranges import record_function
from ts.profiler.schedule import ProfilerAction, schedule

__all__ = [
    "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule",
    "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip
