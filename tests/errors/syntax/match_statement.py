"""A match statement."""


def main(x: int):
    match x:
        case 1:
            return 2
    return x

# error: UnsupportedNodeError
# Match aren't supported; write `if` and `elif`:
#   File "match_statement.py", line 5
# def main(x: int):
#     match x:
#     ~ <--- HERE
#         case 1:
#             return 2
