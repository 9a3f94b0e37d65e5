"""docs/reference/language: every rule of the reference has a program, and the pages say which."""

from tests import language


def test_every_rule_has_a_program():
    rules = {rule for section in language.RULES.values() for rule in section}
    programs = language.tested()
    assert sorted(rules - set(programs)) == [], "rules without a program"
    assert sorted(set(programs) - rules) == [], "programs that name an unknown rule"


def test_pages_are_up_to_date():
    """`python -m tests.language` writes it."""
    assert {path: path.read_text() for path in language.PAGES.glob("*.md")} == language.pages()
    assert sorted(part for parts in language.SECTIONS.values() for part in parts) == sorted(language.RULES)
