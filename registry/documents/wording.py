"""From a validator's errors to faults in plain words: where, what was seen, what was expected, what to do.

The words for an expectation come from the schema itself: `title` stands beside every pattern and says it in words.
"""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from registry.documents.canonical import pointer_of
from registry.documents.faults import Fault, printable, show

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_TYPE_WORDS: Final[Mapping[str, str]] = {
    "null": "null",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "an object",
}
_MOST_CHOICES = 30
_LONGEST_GUESSED = 100  # difflib is quadratic, and no key of ours is half as long


def faults_from(error: "ValidationError") -> Iterator[Fault]:
    """Yield the faults that one validation error stands for; errors inside alternatives are flattened."""
    spell = _SPELLINGS.get(str(error.validator))
    if spell is not None:
        yield from spell(error)
    elif error.context:
        yield from _nearest_alternative(error)
    else:
        yield _fault(error, f"{show(error.instance)} is not what is expected here{_wanted(error)}")


def expectation(schema: object) -> str:
    """Say in words what `schema` expects; empty where it expects nothing in particular."""
    if not isinstance(schema, Mapping):
        return ""
    if "const" in schema:
        return _quoted(schema["const"])
    if "enum" in schema:
        return _choices(cast("Sequence[object]", schema["enum"]))
    types = schema.get("type")
    named = [types] if isinstance(types, str) else list(cast("Sequence[str]", types or ()))
    title = schema.get("title")
    if isinstance(title, str):
        return f"{title}, or null" if "null" in named and len(named) > 1 else title
    return " or ".join(_TYPE_WORDS[name] for name in named)


def _fault(error: "ValidationError", message: str, *, hint: str = "", below: Sequence[str] = ()) -> Fault:
    return Fault(pointer=pointer_of([*error.absolute_path, *below]), message=message, hint=hint)


def _wanted(error: "ValidationError") -> str:
    words = expectation(error.schema)
    return f"; expected {words}" if words else ""


def _type(error: "ValidationError") -> Iterator[Fault]:
    yield _fault(error, f"{show(error.instance)}{_wanted(error)}")


def _required(error: "ValidationError") -> Iterator[Fault]:
    instance = cast("Mapping[str, object]", error.instance)
    known = _properties(error)
    for key in cast("Sequence[str]", error.validator_value):
        if key not in instance:
            words = expectation(known.get(key))
            yield _fault(error, "is missing" + (f"; expected {words}" if words else ""), below=[key])


def _unknown_key(error: "ValidationError") -> Iterator[Fault]:
    known = list(_properties(error))
    yield _fault(error, "is not a known key", hint=_nearest_key(str(error.path[-1]), known))


def _properties(error: "ValidationError") -> Mapping[str, object]:
    schema = cast("Mapping[str, object]", error.schema)
    return cast("Mapping[str, object]", schema.get("properties", {}))


def _nearest_key(key: str, known: Sequence[str]) -> str:
    lowered = {name.lower(): name for name in known}
    guess = key[:_LONGEST_GUESSED].lower().replace("-", "_")
    nearest = difflib.get_close_matches(guess, lowered, n=1, cutoff=0.5)
    if nearest:
        return f"did you mean {lowered[nearest[0]]!r}?"
    return f"the keys here are {', '.join(known)}" if known else "no keys are known here"


def _key(error: "ValidationError") -> Iterator[Fault]:
    words = expectation(error.validator_value) or "allowed here"
    yield _fault(error, f"the key {_quoted(error.path[-1])} is not {words}")


def _enum(error: "ValidationError") -> Iterator[Fault]:
    choices = cast("Sequence[object]", error.validator_value)
    hint = ""
    if isinstance(error.instance, str):
        texts = [choice for choice in choices if isinstance(choice, str)]
        nearest = difflib.get_close_matches(error.instance[:_LONGEST_GUESSED].lower(), texts, n=1, cutoff=0.7)
        hint = f"did you mean {nearest[0]!r}?" if nearest else ""
    yield _fault(error, f"{show(error.instance)}; expected {_choices(choices)}", hint=hint)


def _const(error: "ValidationError") -> Iterator[Fault]:
    yield _fault(error, f"{show(error.instance)}; expected {_quoted(error.validator_value)}")


def _pattern(error: "ValidationError") -> Iterator[Fault]:
    yield _fault(error, f"{show(error.instance)} is not {expectation(error.schema) or 'of the expected form'}")


def _choices(choices: Sequence[object]) -> str:
    shown = [_quoted(choice) for choice in choices[:_MOST_CHOICES]]
    more = [f"{len(choices) - len(shown)} more"] if len(choices) > len(shown) else []
    *first, last = [*shown, *more]
    return f"{', '.join(first)} or {last}" if first else last


def _quoted(value: object) -> str:
    return f'"{printable(value)}"' if isinstance(value, str) else show(value).removeprefix("the number ")


def _length(noun: str, bound: str) -> Callable[["ValidationError"], Iterator[Fault]]:
    def spell(error: "ValidationError") -> Iterator[Fault]:
        seen = show(error.instance)
        if isinstance(error.instance, str) and error.instance:
            seen = f"text of {len(error.instance)} characters"
        elif isinstance(error.instance, Mapping):
            seen = f"an object of {len(error.instance)} keys"
        limit = cast("int", error.validator_value)
        yield _fault(error, f"{seen}; expected {bound} {limit} {noun}{'' if limit == 1 else 's'}")

    return spell


def _bound(words: str) -> Callable[["ValidationError"], Iterator[Fault]]:
    def spell(error: "ValidationError") -> Iterator[Fault]:
        yield _fault(error, f"{show(error.instance)}; expected a number {words} {error.validator_value}")

    return spell


def _nearest_alternative(error: "ValidationError") -> Iterator[Fault]:
    """Of several alternatives, yield the errors of the one that went wrong deepest inside: the one that was meant."""
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0] if inner.schema_path else None, []).append(inner)
    meant = max(branches.values(), key=lambda inners: (min(len(inner.path) for inner in inners), -len(inners)))
    for inner in meant:
        yield from faults_from(inner)


_SPELLINGS: Final[Mapping[str, Callable[["ValidationError"], Iterator[Fault]]]] = {
    "type": _type,
    "required": _required,
    "additionalProperties": _unknown_key,
    "propertyNames": _key,
    "enum": _enum,
    "const": _const,
    "pattern": _pattern,
    "minLength": _length("character", "at least"),
    "maxLength": _length("character", "at most"),
    "minItems": _length("item", "at least"),
    "maxItems": _length("item", "at most"),
    "minProperties": _length("key", "at least"),
    "maxProperties": _length("key", "at most"),
    "minimum": _bound("from"),
    "maximum": _bound("up to"),
    "exclusiveMinimum": _bound("above"),
    "exclusiveMaximum": _bound("below"),
}
