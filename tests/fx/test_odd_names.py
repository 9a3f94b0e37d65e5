"""Names in graphs that are not Python identifiers."""

import pytest

import ts
from ts import fx


def sum_all(x, **more):
    return x + sum(more.values())


def test_keyword_arguments_that_are_no_identifiers():
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(sum_all, (x,), {"a": x, "b-c": x, "class": 2, "y=exit(), z": 3}))
    module = fx.GraphModule(ts.nn.Module(), graph)
    assert "sum_all(x, a = x, **{'b-c': x, 'class': 2, 'y=exit(), z': 3})" in module.code
    assert module(ts.ones(2)).tolist() == [8, 8]


@pytest.mark.parametrize("name", ["a-b", "x): exit() #", "class", ""])
def test_names_of_parameters(name):
    graph = fx.Graph()
    graph.output(graph.placeholder(name))
    with pytest.raises(ValueError, match="not a valid parameter name"):
        fx.GraphModule(ts.nn.Module(), graph)
