"""The arguments of a call as a script gets them."""

import json

from Fixtures.scripts.derived_values import folded


def bound(name, header, arguments, user):
    """The values of a call's arguments by name, their texts and flags, and the user that the call acts for."""
    values, texts, flags = {}, [], ""
    for argument in header.arguments:
        # A call that another script asked for uses the names on the wire.
        value = arguments.pop(argument.name, arguments.pop(argument.wire, argument.default))
        value = folded(argument.fold, value)
        if isinstance(value, list) and argument.kind.startswith("json "):
            value = json.dumps(value)
        if value is None and argument.kind == "user" and user:
            value = user
        assert value is not None or argument.optional, f"{name} needs {argument.name}"
        flags += "0" if value is None else "1"
        values[argument.name] = text_of(value)
        texts.append(values[argument.name])
        if argument.kind == "user" and value is not None:
            user = value
    assert not arguments, f"{name} has no {list(arguments)}"
    return values, texts, flags, user


def text_of(value):
    """A value as it stands in `ARGV`."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (list, tuple)):
        return " ".join(value)
    if isinstance(value, dict):
        return json.dumps(value)
    return str(value)
