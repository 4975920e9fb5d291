"""One family of errors, drawn as it is."""

import re

from clearhead.foundation import errors


def test_the_tree_in_the_docstring_is_the_tree_in_the_code():
    drawn = set(re.findall(r"[├└]── (\w+)", errors.__doc__))
    family = {cls.__name__ for cls in errors.ClearheadError.__subclasses__()}
    assert drawn == {name for name in family if hasattr(errors, name)}


def test_the_nearest_name_is_suggested_only_when_it_is_near():
    assert errors.nearest("stpes", ["steps", "width"]) == " Did you mean 'steps'?"
    assert errors.nearest("zzz", ["steps", "width"]) == ""
    assert errors.nearest("steps", []) == ""
