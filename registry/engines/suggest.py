"""Edits that could mend a proposal, the smallest first. Each is applied and judged again before it is shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from registry.domain.taps import Taps
from registry.engines.draft_config import apply, setting
from registry.engines.draft_load import first_architecture, tap_count
from registry.engines.engine import Engine
from registry.engines.loadable import bases
from registry.engines.reader import Situation
from registry.engines.spelling import Spelling, spell_taps, with_options


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One candidate edit, applied."""

    operations: tuple[Mapping[str, object], ...]
    """RFC 6902 operations on the draft config."""
    options: tuple[str, ...]
    """Launch options to add."""
    situation: Situation
    """The situation after the edit."""
    text: str


def edits(engine: Engine, situation: Situation, trained: Taps) -> Iterator[Edit]:
    """Yield edits: an option alone, then ids, then ids with an option, then the same with a known draft class."""
    option = situation.profile.graphs.disable_option
    if option and not situation.profile.graphs.ids_hold and not (situation.launch and situation.launch.has(option)):
        yield _edit(situation, (), (option,))
    for base, operations in bases(situation):
        spelling = spell_taps(engine, base, trained)
        if isinstance(spelling, Spelling):
            yield _edit(situation, (*operations, *_operations(base, spelling)), spelling.options)


def _operations(base: Situation, spelling: Spelling) -> tuple[Mapping[str, object], ...]:
    """Return the smallest change: the ids where the build reads them, capturing switched on, the tap count."""
    if not spelling.ids:
        return _off(base, spelling)
    changes = list(setting(base.config, spelling.pointer, list(spelling.ids)))
    config = apply(base.config, changes)
    runner_off = next((r.capture_off for r in base.profile.runners if r.name == spelling.reading.runner), None)
    if runner_off:
        changes += [op for op in setting(config, runner_off, value=True) if op["op"] == "replace"]
    count, draft = len(spelling.ids), base.profile.draft(first_architecture(config) or "")
    if draft is not None and tap_count(draft, apply(base.config, changes))[0] != count:
        changes += setting(config, "/num_aux_hidden_states", count)
    return tuple(changes)


def _off(base: Situation, spelling: Spelling) -> tuple[Mapping[str, object], ...]:
    """Return the change for a drafter of no taps."""
    changes = setting(base.config, spelling.pointer, value=False)
    count = spelling.config.get("num_aux_hidden_states")
    return (
        changes if count is None else (*changes, *setting(apply(base.config, changes), "/num_aux_hidden_states", count))
    )


def _edit(situation: Situation, operations: tuple[Mapping[str, object], ...], options: tuple[str, ...]) -> Edit:
    config = apply(situation.config, operations)
    after = replace(situation, config=config, launch=with_options(situation.launch, options))
    return Edit(operations=operations, options=options, situation=after, text=_in_words(operations, options))


def _in_words(operations: tuple[Mapping[str, object], ...], options: tuple[str, ...]) -> str:
    parts = [f"set {operation['path']} to {_value(operation['value'])}" for operation in operations]
    parts += [f"start with {option}" for option in options]
    return " and ".join(parts)


def _value(value: object) -> str:
    return str(value).replace("'", '"').replace("True", "true").replace("False", "false").replace("None", "null")
