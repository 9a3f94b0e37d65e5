"""A method of a string is called with too many arguments."""


def main(x: str):
    return x.upper(1)

# error: SchemaMatchError
# aten::upper(str self) -> str:
# Expected at most 0 arguments but found 1 positional arguments.
# :
#   File "text_method.py", line 5
# def main(x: str):
#     return x.upper(1)
#            ~~~~~~~ <--- HERE
