# ruff: noqa
# fmt: off
"""Functions whose last line is difficult to determine, for `test_startup`."""


def one_line(x): return x


def comments(x):
    return x
    # body to the left of the margin


def in_brackets(
    x,
    y=(
        1
    ),
):
    return (x +
y)


def of_text(x):
    text = """
at the margin
# no comment
"""
    return text, x


class Methods:
    def first(self):
        return 1

        # far right

    # between

    def second(self):
        def inner():
            return 2
        return inner

    @staticmethod
    def third(): return (3,
4)

    async def fourth(self):
        if self:
            return 1
        else:
            pass
# the margin
        return 2  # after a comment further left


def continued(x):
    return x \
+ 1


def only_text():
    """Says something.
    """


if True:
    def in_a_block(x):

        return x

    # behind it

LAST = 1
