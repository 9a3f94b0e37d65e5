"""Syntax trees of type comments are printed as in PyTorch; errors contain the expected token."""

import pytest

from ts.jit import parse_type_comment


def test_text():
    """A tree text of 40 or more characters is split into one line per child."""
    assert str(parse_type_comment("# type: (Tensor, float, *int) -> Optional[Tensor]  # why")) == (
        "(decl\n"
        "  (list\n"
        "    (param\n"
        "      (ident )\n"
        "      (option\n"
        "        (variable (ident Tensor)))\n"
        "      (option)\n"
        "      (False))\n"
        "    (param\n"
        "      (ident )\n"
        "      (option (variable (ident float)))\n"
        "      (option)\n"
        "      (False))\n"
        "    (param\n"
        "      (ident )\n"
        "      (option\n"
        "        (starred\n"
        "          (variable (ident int))))\n"
        "      (option)\n"
        "      (False)))\n"
        "  (option\n"
        "    (subscript\n"
        "      (variable (ident Optional))\n"
        "      (list (variable (ident Tensor))))))\n"
    )
    assert str(parse_type_comment("# type: () -> None")) == "(decl (list) (option (None)))\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected type comment but found 'eof' here"),
        ("x", "expected type comment but found 'ident' here"),
        ("# type: ignore", r"expected \( but found 'ident' here"),
        ("# type: (int", r"expected \) but found 'eof' here"),
        ("# type: (int) ->", "expected ident but found 'eof' here"),
    ],
)
def test_errors(text, message):
    with pytest.raises(RuntimeError, match=message):
        parse_type_comment(text)
