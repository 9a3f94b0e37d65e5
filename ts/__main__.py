"""`python -m ts`: the command line."""

import sys

from ts.cli import main

sys.exit(main())
