"""Results of operators with several results have field names."""
# rule: attributes

import ts


def main():
    x = ts.arange(6).reshape(2, 3)
    print(int(x.max(dim=0).values.sum()), int(x.sort(descending=True).indices[0, 0]))  # expect: 12 2
    values, indices = ts.topk(x, 1)
    print(int(values.sum()), int(indices.sum()))  # expect: 7 4
