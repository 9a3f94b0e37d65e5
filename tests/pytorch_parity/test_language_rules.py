"""Valid and invalid programs have PyTorch's values, errors, source ranges and graphs."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest

pytest.importorskip("torch")

import ts
from tests.pytorch_parity.language_rules import all_rules, differences, outcomes

RULES = all_rules()


def outcomes_in_pytorch(rule):
    import torch

    return outcomes(rule, torch)


@pytest.fixture(scope="module")
def pytorch_process():
    """Start a process for PyTorch, because classes compiled by other tests would change names of types."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.mark.parametrize("rule", RULES, ids=[f"{rule.name}: {rule.title}" for rule in RULES])
def test_rule(rule, pytorch_process):
    expected = pytorch_process.submit(outcomes_in_pytorch, rule)
    found = differences(rule, outcomes(rule, ts), expected.result())
    assert not found, "\n".join(found)
