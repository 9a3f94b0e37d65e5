"""Hooks of scripted modules are checked against `forward`."""



from typing import Any, Optional, Tuple

import pytest

import ts


class One(ts.nn.Module):
    def forward(self, a: str):
        return a


def pre_fits(self, input: Tuple[str]) -> Tuple[str]:
    return (input[0] + "p",)


def pre_item(self, input: Tuple[str]) -> str:
    return input[0] + "i"


def fits(self, input: Tuple[str], output: str):
    return output + "h"


def pre_without_input(self):
    return None


def pre_no_tuple(self, input: str) -> None:
    return None


def pre_other_item(self, input: Tuple[int]) -> None:
    return None


def pre_without_annotation(self, input: Tuple[str]):
    return input


def pre_returns_int(self, input: Tuple[str]) -> int:
    return 3


def pre_returns_more(self, input: Tuple[str]) -> Tuple[str, str]:
    return input[0], "b"


def pre_returns_optional(self, input: Tuple[str]) -> Optional[Tuple[str]]:
    return input


def without_output(self, input: Tuple[str]):
    return "a"


def other_output(self, input: Tuple[str], output: int):
    return output


def other_input(self, input: Tuple[Any], output: str):
    return output


def with_hook(hook):
    module = One()
    register = module.register_forward_pre_hook if "pre" in hook.__name__ else module.register_forward_hook
    register(hook)
    return module


@pytest.mark.parametrize(
    ("hook", "expected"), [(pre_fits, "ap"), (pre_item, "ai"), (fits, "ah")], ids=lambda x: getattr(x, "__name__", x)
)
def test_hook_fits(hook, expected):
    """Hooks with matching signatures are called."""
    assert ts.jit.script(with_hook(hook))("a") == expected


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        (pre_without_input, "was expected to only have exactly 2 inputs but it had 1 inputs"),
        (pre_no_tuple, "expected the input argument to be typed as a Tuple but found type: 'str' instead"),
        (pre_other_item, "has the wrong inner types for the input tuple argument"),
        (pre_without_annotation, "is missing a return annotation"),
        (pre_returns_int, "returned the wrong type of: 'int'"),
        (pre_returns_more, "The returned tuple contains the wrong number of contained types"),
        (pre_returns_optional, "returned the wrong type of: 'Optional"),
        (without_output, "was expected to only have exactly 3 inputs but it had 2 inputs"),
        (other_output, "has the wrong type for the output argument. Received type: 'int'. Expected type: 'str'"),
        (other_input, "has the wrong inner types for the input tuple argument"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_hook_does_not_fit(hook, message):
    """The error for a hook with another signature names the hook, the module and the expected signature."""
    with pytest.raises(RuntimeError) as failure:
        ts.jit.script(with_hook(hook))
    assert message in str(failure.value)
    assert f"'{hook.__name__}' on module 'One'" in str(failure.value)
    assert f"{hook.__name__}(self, input: Tuple[str]" in str(failure.value)


def test_hook_of_a_submodule_does_not_fit():
    """An invalid hook of a submodule is reported before the call of the submodule is compiled."""

    class Outer(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.one = with_hook(pre_no_tuple)

        def forward(self, a: str):
            return self.one(a)

    with pytest.raises(RuntimeError, match="'pre_no_tuple' on module 'One' expected the input argument to be typed"):
        ts.jit.script(Outer())


class CallsByKeyword(ts.nn.Module):
    def __init__(self, hook):
        super().__init__()
        self.one = with_hook(hook)

    def forward(self, a: str):
        return self.one(a=a)


def test_keyword_arguments_of_modules_with_hooks():
    """Hooks receive the positional arguments only; keyword arguments are passed to `forward`."""
    with pytest.raises(RuntimeError, match="pre_fits"):
        ts.jit.script(CallsByKeyword(pre_fits))


def test_function_as_hook_and_pre_hook():
    """A function registered as hook and pre-hook is checked against both signatures."""
    module = with_hook(pre_fits)
    module.register_forward_hook(pre_fits)
    with pytest.raises(RuntimeError, match="exactly 3 inputs but it had 2 inputs"):
        ts.jit.script(module)
