"""`roost.engine-diff/1`: what going from one engine build to another changes."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from registry.documents import fields
from registry.documents.canonical import canonical_bytes, plain
from registry.documents.fields import Fields
from registry.documents.validation import validated
from registry.domain.engine_diff import Change, CheckpointEffect, Effect, EngineDiff

SCHEMA: Final = "roost.engine-diff/1"


def parse(data: bytes | Mapping[str, object]) -> EngineDiff:
    """Return the comparison in `data`.

    Raises:
        DocumentError: with every fault.
    """
    document = validated("engine-diff", data)
    page = fields.maybe_part(document, "checkpoints")
    before, after = fields.part(document, "from"), fields.part(document, "to")
    return EngineDiff(
        before=fields.text(before, "build"),
        after=fields.text(after, "build"),
        changes=tuple(map(_change, fields.parts(document, "changes"))),
        checkpoints=None if page is None else tuple(map(_effect, fields.parts(page, "items"))),
        next=None if page is None else fields.maybe_text(page, "next"),
        profiles=(fields.text(before, "profile"), fields.text(after, "profile")),
    )


def render(diff: EngineDiff) -> dict[str, object]:
    """Return the document of `diff`: every key is always there."""
    items = None if diff.checkpoints is None else [_render_effect(effect) for effect in diff.checkpoints]
    return {
        "schema": SCHEMA,
        "from": {"build": diff.before, "profile": diff.profiles[0]},
        "to": {"build": diff.after, "profile": diff.profiles[1]},
        "changes": [_render_change(change) for change in diff.changes],
        "checkpoints": None if items is None else {"items": items, "next": diff.next},
    }


def diff_bytes(diff: EngineDiff) -> bytes:
    """Return the canonical bytes of `diff`, as the CLI and the service both give them."""
    return canonical_bytes(render(diff))


def _render_change(change: Change) -> dict[str, object]:
    return {
        "place": change.place,
        "what": change.what,
        "before": plain(change.before),
        "after": plain(change.after),
        "sentence": change.sentence,
        "classes": list(change.classes),
    }


def _change(change: Fields) -> Change:
    return Change(
        place=fields.text(change, "place"),
        what=fields.text(change, "what"),
        before=change["before"],
        after=change["after"],
        sentence=fields.text(change, "sentence"),
        classes=fields.texts(change, "classes"),
    )


def _render_effect(effect: CheckpointEffect) -> dict[str, object]:
    return {
        "checkpoint": effect.checkpoint,
        "target": effect.target,
        "effect": effect.effect,
        "facts_equal": effect.facts_equal,
        "ids": None if effect.ids is None else list(effect.ids),
        "pointer": effect.pointer,
        "options": list(effect.options),
        "sentence": effect.sentence,
    }


def _effect(effect: Fields) -> CheckpointEffect:
    ids = cast("Sequence[float] | None", effect["ids"])
    return CheckpointEffect(
        checkpoint=fields.text(effect, "checkpoint"),
        target=fields.text(effect, "target"),
        effect=cast("Effect", fields.text(effect, "effect")),
        facts_equal=bool(effect["facts_equal"]),
        ids=None if ids is None else tuple(map(int, ids)),
        pointer=fields.maybe_text(effect, "pointer"),
        options=fields.texts(effect, "options"),
        sentence=fields.text(effect, "sentence"),
    )
