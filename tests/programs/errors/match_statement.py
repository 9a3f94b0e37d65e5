"""The error for a `match` statement names the construct."""


def main():
    x = 1
    match x:  # expect error: Match aren't supported; write `if` and `elif`
        case 1:
            return 1
    return 2
