"""The error for a `while` loop with `else` names the construct."""
# rule: while.else


def main():
    x = 3
    while x > 1:  # expect error: else branches of while loops aren't supported
        x -= 1
    else:
        x = 5
    return x

# not in PyTorch
