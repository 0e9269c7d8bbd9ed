"""The tap ladder in text: the target's depths from the last layer down to the embedding, and who reads where. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from roost.screen import Paint

_PLAIN: Final = Paint()

_TAP, _VERIFIER, _BOTH, _RAIL, _GAP = "●", "◆", "◉", "│", "┊"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One line of the ladder: a depth, or `skipped` depths at once."""

    depth: int | None
    mark: str
    label: str = ""
    skipped: int = 0


def draw(
    *, layers: int | None, taps: Sequence[Mapping[str, Any]], verifier: Mapping[str, Any] | None, paint: Paint = _PLAIN
) -> str:
    """Draw the ladder of a checkpoint.

    Depth 0 is the embedding output; depth k is the output of layer k - 1, counted from 0.

    Args:
        layers: Decoder layers of the target; None where they are not known, then the ladder ends at the highest mark.
        taps: The trained taps in order, as `{"depth", "stream", "norm"}`.
        verifier: The state that the verifier's head reads, in the same form; None where it is apart or unknown.
        paint: Colors.
    """
    rungs = rungs_of(layers=layers, taps=taps, verifier=verifier)
    width = max(len(str(rung.depth)) for rung in rungs if rung.depth is not None)
    return "\n".join(_line(rung, width=width, paint=paint) for rung in rungs)


def rungs_of(
    *, layers: int | None, taps: Sequence[Mapping[str, Any]], verifier: Mapping[str, Any] | None
) -> tuple[Rung, ...]:
    """Return the lines of the ladder from the top down; depths without a mark are drawn together."""
    marked = {int(tap["depth"]) for tap in taps} | ({int(verifier["depth"])} if verifier else set())
    top = max([layers or 0, *marked])
    shown = sorted(marked | {top, 0}, reverse=True)
    rungs: list[Rung] = []
    for higher, depth in zip([None, *shown], shown, strict=False):
        rungs.extend(_between(higher, depth))
        rungs.append(_rung(depth, layers=layers, taps=taps, verifier=verifier))
    return tuple(rungs)


def _between(higher: int | None, depth: int) -> Iterable[Rung]:
    skipped = 0 if higher is None else higher - depth - 1
    if skipped == 1:
        yield Rung(depth=depth + 1, mark=_RAIL)
    elif skipped > 1:
        yield Rung(depth=None, mark=_GAP, skipped=skipped)


def _rung(
    depth: int, *, layers: int | None, taps: Sequence[Mapping[str, Any]], verifier: Mapping[str, Any] | None
) -> Rung:
    places = [place for place, tap in enumerate(taps, start=1) if tap["depth"] == depth]
    roles = [f"tap {place}{_unusual(taps[place - 1])}" for place in places]
    is_verifier = verifier is not None and verifier["depth"] == depth
    if verifier is not None and is_verifier:
        roles.append(f"verifier's state{_unusual(verifier)}")
    mark = (_BOTH if is_verifier else _TAP) if places else (_VERIFIER if is_verifier else _RAIL)
    label = name_of(depth, layers=layers)
    if layers is not None and depth > layers:
        roles.append("beyond the last layer")
    return Rung(depth=depth, mark=mark, label=f"{label:<27}{', '.join(roles)}".rstrip())


def name_of(depth: int, *, layers: int | None) -> str:
    """Say which state lies at `depth`."""
    if depth == 0:
        return "embedding output"
    return f"output of layer {depth - 1}{' (last)' if depth == layers else ''}"


def _unusual(tap: Mapping[str, Any]) -> str:
    words = [
        word
        for word, usual in ((tap.get("stream"), "residual"), (tap.get("norm"), "none"))
        if word not in {usual, None}
    ]
    return f" ({', '.join(words)})" if words else ""


def _line(rung: Rung, *, width: int, paint: Paint) -> str:
    depth = "" if rung.depth is None else str(rung.depth)
    if rung.skipped:
        return f"  {'':>{width}}   {paint(rung.mark, 'dim')}   {paint(f'{rung.skipped} more', 'dim')}"
    if rung.mark == _RAIL:
        text = f"   {rung.mark}   {rung.label}".rstrip()
        return paint(f"  {depth:>{width}}{text}", "dim")
    style = "cyan" if rung.mark == _VERIFIER else "green"
    return f"  {paint(f'{depth:>{width}}', 'bold')} ──{paint(rung.mark, style, 'bold')}── {rung.label}"
