"""Every graph is verified after every pass while the tests run."""

import os

os.environ.setdefault("TS_JIT_VERIFY", "1")
