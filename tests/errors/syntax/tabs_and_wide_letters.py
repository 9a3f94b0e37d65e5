"""Underlines are aligned with their expression after tabs and wide characters."""


def main(x: int) -> str:
	if x > 0:
		return "日本語" + x
	return ""

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::add.str(str a, str b) -> str:
#   Expected a value of type 'str' for argument 'b' but instead found type 'int'.
#
#   and 18 other overloads, which match no better.
#
# The original call is:
#   File "tabs_and_wide_letters.py", line 6
# def main(x: int) -> str:
# 	if x > 0:
# 		return "日本語" + x
# 		       ~~~~~~~~~~~~ <--- HERE
# 	return ""
# Hint: found str and int; `str(x)` converts a number to a string
