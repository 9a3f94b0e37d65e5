"""docs/reference/language: each rule of the language has a program, and the pages list the programs."""

from tests import language_page


def test_every_rule_has_a_program():
    rules = {rule for section in language_page.RULES.values() for rule in section}
    programs = language_page.tested()
    assert sorted(rules - set(programs)) == [], "rules without a program"
    assert sorted(set(programs) - rules) == [], "programs that name an unknown rule"


def test_pages_are_up_to_date():
    """The language pages are current (`python -m tests.language_page`)."""
    assert {path: path.read_text() for path in language_page.PAGES.glob("*.md")} == language_page.pages()
    assert sorted(part for parts in language_page.SECTIONS.values() for part in parts) == sorted(language_page.RULES)
