"""A key that is not in the dict."""


def main():
    d = {"a": 1}
    d["b"] = 2
    print(d["z"])  # expect runtime error: KeyError: z
