"""docs/reference/language.md: every rule of the reference has a program, and the page says which."""

from tests import language


def test_every_rule_has_a_program():
    rules = {rule for section in language.RULES.values() for rule in section}
    programs = language.tested()
    assert sorted(rules - set(programs)) == [], "rules without a program"
    assert sorted(set(programs) - rules) == [], "programs that name an unknown rule"


def test_page_is_up_to_date():
    """`python -m tests.language` writes it."""
    assert language.PAGE.read_text() == language.page()
