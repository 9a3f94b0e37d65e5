"""Implementations of the schedules in `ts.optim.lr_scheduler`."""
