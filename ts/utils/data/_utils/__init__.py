"""Compatibility package for `torch.utils.data._utils`: programs import `collate.default_collate` from it."""

import sys

from ts.unsupported import names_for
from ts.utils.data._utils import collate, fetch, pin_memory, worker
from ts.utils.data.exception_wrapper import ExceptionWrapper

__all__ = ["ExceptionWrapper", "collate", "fetch", "pin_memory", "worker"]
HAS_NUMPY = True
IS_WINDOWS = sys.platform == "win32"
MP_STATUS_CHECK_INTERVAL = 5.0  # seconds between checks whether other processes are alive
python_exit_status = False
__getattr__ = names_for(__name__)
