"""Runtime objects of scripts: functions, modules, their compilation, and resource limits."""
