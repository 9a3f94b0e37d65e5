"""The error for a `for` loop with `else` names the construct."""
# rule: for.else


def main():
    for i in range(2):  # expect error: else branches of for loops aren't supported
        pass
    else:
        pass
    return 1
