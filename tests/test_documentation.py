"""Documentation of operators in `help`: sentence, shape, dtypes, errors and a tested example."""

import doctest
import pydoc

import pytest

import ts
from ts._core.dispatch.overloads import overloads
from ts.ops import documentation, registry
from ts.ops.doc_data import DTYPES, RESULTS
from ts.ops.doc_summaries import SENTENCES


def test_examples_run():
    """Each documentation example returns the documented result."""
    text = "\n".join(f">>> {example}\n{RESULTS[name]}" for name, (_, example) in SENTENCES.items())
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    report = []
    result = runner.run(parser.get_doctest(text, {"ts": ts}, "examples", None, 0), out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted == len(SENTENCES) >= 150


@pytest.mark.parametrize("name", sorted(SENTENCES))
def test_sentences_are_well_formed(name):
    """Each documentation text belongs to an existing operator, is well formed, and has an example that calls
    it."""
    sentence, example = SENTENCES[name]
    assert (
        sentence.endswith(".")
        and len(sentence) < 130
        and (sentence[0].isupper() or not sentence[0].isalpha() or "(" in sentence or "@" in sentence)
    )
    assert registry.records(f"aten::{name}")
    plain = name.removeprefix("linalg_").removeprefix("special_")
    assert f".{plain}(" in example


def test_all_operators_have_texts():
    """Every operator has a documentation text with its call, description and errors, without unknown
    dtypes."""
    registry.load()
    for name in sorted(registry.names()):
        text = documentation.help_text(name, overloads(name).operators())
        plain = name.removeprefix("aten::")
        assert (
            text.replace(".", "_", 1).startswith(f"{plain}(".replace(".", "_", 1))
            and "\nErrors: TypeError" in text
            and registry.records(name)[0].schema_text in text
        ), text
        schemas = {op.schema_text for op in overloads(name).operators()}
        lines = set(text.partition("\n\n")[2].partition(">>>")[0].split("\n")) - schemas
        assert max(map(len, lines)) <= 100, text
    assert len(DTYPES) > 1000


SOFTMAX = """\
softmax(input, dim, dtype=None) -> Tensor

Return the softmax along `dim`: the exponentials of the elements, divided by their sum.

Shape:  That of `input`.
Dtypes: float16 and bfloat16 (in float32, rounded once), float32 and float64.
out=:   The result is written there, in its dtype; another shape is resized.
Errors: TypeError for arguments that no overload takes; IndexError where the tensor has no such
        `dim`.

>>> ts.softmax(ts.tensor([0.0, 0.0]), 0)
tensor([0.5000, 0.5000])

aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor
"""


def test_help_of_an_operator():
    """The documentation is available for the function, the method and `help`."""
    assert ts.softmax.__doc__.startswith(SOFTMAX)
    assert ts.Tensor.softmax.__doc__ == ts.softmax.__doc__ == ts.ones(1).softmax.__doc__
    text = pydoc.plain(pydoc.render_doc(ts.softmax))
    assert "Return the softmax along `dim`" in text and ">>> ts.softmax(" in text


def test_documentation_of_derived_operators():
    """Documentation of in-place variants, aliases, views and data-dependent operators is derived."""
    assert "In-place version of `add`." in ts.Tensor.add_.__doc__ and "That of `input`." in ts.Tensor.add_.__doc__
    assert "Alias of `abs`. Return the element-wise absolute value" in ts.absolute.__doc__
    assert "A view: it shares the elements" in ts.transpose.__doc__
    assert "depends on the elements" in ts.masked_select.__doc__
    assert "broadcast together" in ts.mul.__doc__ and "`keepdim` is true" in ts.sum.__doc__
    assert "Dtypes: bool, integers" in ts.mul.__doc__
    assert ts.linalg.inv.__doc__.startswith("linalg.inv(A) -> Tensor\n")
    assert "for float16 and bfloat16: 'linalg.inv: Low precision dtypes not" in " ".join(
        ts.linalg.inv.__doc__.split()
    )
    assert ts.ldexp.__doc__.split("\n\n")[1] == "Of `input` and `other` it gives a tensor."
