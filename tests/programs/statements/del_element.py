"""`del` of a list element and of a dict entry."""
# rule: statements.del


def main():
    xs = [1, 2, 3]
    del xs[1]
    d = {1: 10, 2: 20}
    del d[1]
    print(xs, len(d))  # expect: [1, 3] 1
