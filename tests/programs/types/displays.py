"""List, tuple and dict literals; a repeated dict key has its last value."""
# rule: displays, dict, tuple, list

def main():
    print([3, 4], (3, "a", 0.5), {"hello": 3}, [(1, 2)], {1: [1], 2: [2, 3]})
    # expect: [3, 4] (3, a, 0.5) {hello: 3} [(1, 2)] {1: [1], 2: [2, 3]}  (python: [3, 4] (3, 'a', 0.5) {'hello': 3} [(1, 2)] {1: [1], 2: [2, 3]})
    d = {"a": 1, "b": 2, "a": 3}  # noqa: F601
    print(d["a"], len(d))  # expect: 3 2
    by_float = {0.5: "x"}
    by_bool = {True: 1}
    by_complex = {1j: 4}
    print(by_float[0.5], by_bool[True], by_complex[1j])  # expect: x 1 4
