"""How passes are written and put together."""

from ts.absent import names_for

__getattr__ = names_for(__name__)
