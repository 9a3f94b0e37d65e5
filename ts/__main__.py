"""`python -m ts`: the command line."""

import sys

from ts.cli.main import main

sys.exit(main())
