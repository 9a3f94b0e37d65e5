"""docs/operators.md: made from the records as they are."""

from tests import operators
from ts.ops import registry


def test_the_page_is_current():
    """`python -m tests.operators` writes it."""
    assert operators.PAGE.read_text() == operators.page()


def test_what_is_listed_as_missing_is():
    assert not [name for name in operators.MISSING if registry.records(f"aten::{name}")]
