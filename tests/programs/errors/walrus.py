"""The error for an assignment expression names the construct."""


def main():
    if (y := 3) > 1:  # expect error: NamedExpr aren't supported; assign in a separate statement
        return y
    return 1
