"""Methods of dicts."""
# rule: dict, calls.methods


def main():
    d = {"a": 1, "b": 2}
    d["c"] = 3
    print(len(d), d["a"], "b" in d, "z" in d)  # expect: 3 1 True False
    print(d.keys(), d.values())  # expect: [a, b, c] [1, 2, 3] (python: dict_keys(['a', 'b', 'c']) dict_values([1, 2, 3]))
    print(d.get("a", 0), d.get("z", 9))  # expect: 1 9
    print(d.pop("a"), d.setdefault("q", 4), len(d))  # expect: 1 4 3
    d.update({"b": 7})
    print(d["b"])  # expect: 7
    d.clear()
    print(len(d))  # expect: 0
