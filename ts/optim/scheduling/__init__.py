"""The schedules of `ts.optim.lr_scheduler`, grouped by what they are about."""
