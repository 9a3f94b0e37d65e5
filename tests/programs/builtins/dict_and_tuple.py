"""`dict` and `tuple` of other containers."""
# rule: builtin.dict, builtin.tuple

def main():
    d = dict([("a", 1), ("b", 2)])
    e = dict(d)
    e["a"] = 5
    print(d, e)  # expect: {a: 1, b: 2} {a: 5, b: 2}  (python: {'a': 1, 'b': 2} {'a': 5, 'b': 2})
    print(dict(x=1, y=2))  # expect: {x: 1, y: 2}  (python: {'x': 1, 'y': 2})
    print(tuple((1, 2.5)))  # expect: (1, 2.5)
