"""Valid and invalid programs have PyTorch's values, errors, source ranges and graphs."""

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from tests.oracle.language_rules import all_rules, differences, outcomes  # noqa: E402

RULES = all_rules()


@pytest.mark.parametrize("rule", RULES, ids=[f"{rule.name}: {rule.title}" for rule in RULES])
def test_rule(rule):
    found = differences(rule, outcomes(rule, ts), outcomes(rule, torch))
    assert not found, "\n".join(found)
