"""An assignment expression is refused by name."""


def main():
    if (y := 3) > 1:  # expect error: NamedExpr aren't supported; assign in a statement of its own
        return y
    return 1
