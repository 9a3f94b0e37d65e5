"""Array backends, one a device; `ts.backends` when installed."""
