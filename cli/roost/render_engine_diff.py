"""Comparisons of engine builds for people: `roost.engine-diff/1` as a dict in, text out. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from roost.render_verdict import wrap
from roost.screen import Paint

_PLAIN: Final = Paint()

_SECTIONS: Final[Mapping[str, str]] = {
    "targets": "target classes",
    "runners": "model runners",
    "graphs": "decode graphs",
    "drafts": "draft classes",
    "launch": "launching",
    "patches": "patches",
}
"""First step of a change's place -> heading."""

_NAMED: Final = 3
"""Classes that a sentence names by itself."""

_MOST_LISTED: Final = 12
"""Longer lists are in JSON."""

_STYLES: Final[Mapping[str, tuple[str, ...]]] = {"nothing": ("green",), "stay": ("red", "bold"), "neither": ("red",)}


def render(diff: Mapping[str, Any], *, paint: Paint = _PLAIN, width: int = 100) -> str:
    """Put a comparison into words, a paragraph per part of the profile.

    Args:
        diff: The `roost.engine-diff/1` document.
        paint: Colors.
        width: Columns that prose may take.
    """
    head = paint(f"{diff['from']['build']} -> {diff['to']['build']}", "bold")
    parts = [head, *_sections(diff["changes"], paint=paint, width=width)]
    if not diff["changes"]:
        parts.append("no fact differs: both builds do the same")
    if diff["checkpoints"] is not None:
        parts.append(_checkpoints(diff["checkpoints"]["items"], paint=paint, width=width))
    return "\n\n".join(parts)


def _sections(changes: Sequence[Mapping[str, Any]], *, paint: Paint, width: int) -> Iterator[str]:
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for change in changes:
        grouped.setdefault(change["place"].split("/")[1], []).append(change)
    for step, together in grouped.items():
        lines = [line for change in together for line in _change(change, paint=paint, width=width)]
        yield "\n".join([paint(_SECTIONS.get(step, step), "bold"), *lines])


def _change(change: Mapping[str, Any], *, paint: Paint, width: int) -> Iterator[str]:
    yield wrap(change["sentence"], width=width, indent="    ", first="  ")
    names = change["classes"]
    if _NAMED < len(names) <= _MOST_LISTED:
        # The sentence names a few; people look for their own class among the others.
        rest = ", ".join(names[_NAMED:])
        yield paint(wrap(f"also: {rest}", width=width, indent="      ", first="    "), "dim")


def _checkpoints(effects: Sequence[Mapping[str, Any]], *, paint: Paint, width: int) -> str:
    if not effects:
        return f"{paint('checkpoints', 'bold')}\n  none is registered"
    lines = []
    for effect in effects:
        word = effect["effect"]
        said = effect["sentence"] if word != "nothing" else effect["sentence"].removeprefix("nothing: ")
        # Painted after wrapping: colors have no width.
        text = wrap(f"{effect['checkpoint']}  {_WORDS[word]}: {said}", width=width, indent="      ", first="  ")
        style = _STYLES.get(word, ("yellow",))
        lines.append(text.replace(f"  {_WORDS[word]}: ", f"  {paint(_WORDS[word], *style)}: ", 1))
    return "\n".join([paint("checkpoints", "bold"), *lines])


_WORDS: Final[Mapping[str, str]] = {
    "nothing": "nothing",
    "ids": "other ids",
    "option": "option",
    "ids_and_option": "other ids and option",
    "config": "another config",
    "convert": "convert",
    "stay": "stay",
    "gains": "gains",
    "neither": "neither",
}
"""What a change asks of a checkpoint."""
