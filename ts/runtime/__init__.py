"""Runtime objects of scripts: functions, modules, compilation on demand, limits."""
