"""A statement at the top level of a compilation unit, which may contain functions only."""

UNIT = """
y = 3
"""


# torch: expected def but found 'ident' here

# error: NotSupportedError
# Expected a function definition at the top level of a script or in a class:
#   File "<string>", line 2
#
# y = 3
# ~~~~~ <--- HERE
