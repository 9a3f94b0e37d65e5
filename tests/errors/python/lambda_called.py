"""A call of a global lambda function."""

increment = lambda x: x + 1


def main(x):
    return increment(x)

# error: FrontendError
# Expected a single top-level function: lambda_called.py:3; a lambda cannot be compiled, write it with `def`
# '<lambda>' is being compiled since it was called from 'main'
#   File "lambda_called.py", line 7
# def main(x):
#     return increment(x)
#            ~~~~~~~~~~~ <--- HERE
