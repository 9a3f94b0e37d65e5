"""An assignment expression is refused by name."""


def main():
    if (y := 3) > 1:  # expect error: NamedExpr aren't supported; assign in a separate statement
        return y
    return 1
