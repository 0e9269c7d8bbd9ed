"""What differs between two profiles, fact by fact and in words; classes that change alike are one change."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final

from registry.domain.engine_diff import Change
from registry.domain.profile import DraftFacts, Patch, Profile, Runner, TargetFacts
from registry.domain.versions import Version
from registry.engines import fact_words
from registry.engines.fact_words import names, plainly, words
from registry.engines.facts import NOT_FACTS

_Facts = Mapping[str, object]
_Words = Mapping[str, Mapping[object, str]]

_METHODS: Final = frozenset({"missing_methods", "needed_methods"})
_FIRST: Final = ("methods", "refused", "dialect", "captures", "stream", "default")
"""The facts of a class that decide most, in this order before all others."""

_FLAG: Final = "flag "
"""Begins the fact of one flag; a flag that a class does not know is ignored."""

_LISTS: Final = frozenset({"parameters", "optional", "renames", "layer_prefixes", "legacy_names", "default_classes"})
"""Facts of which the difference is said: what is new in the list and what is gone."""

_LIST_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "parameters": ("a drafter must now fill", "a drafter need no longer fill"),
    "optional": ("now also takes", "no longer takes"),
    "renames": ("now renames", "no longer renames"),
    "layer_prefixes": ("the layer may now be called", "the layer may no longer be called"),
    "legacy_names": ("only for old checkpoints it still takes", "no longer counts as legacy:"),
    "default_classes": ("is now the default for", "is no longer the default for"),
}


def changes(before: Profile, after: Profile) -> tuple[Change, ...]:
    """Return what differs, in the order in which it matters: targets, runners, graphs, drafters, launch, patches.

    Versions, digests, revisions, cited lines and notes are no facts; builds that differ in nothing else have no
    changes.

    Args:
        before: The build that somebody runs.
        after: The build that they would run.
    """
    return (
        *_targets(before.targets, after.targets),
        *_runners(before.runners, after.runners),
        *_part("graphs", before.graphs, after.graphs, fact_words.GRAPHS),
        *_drafts(before.drafts, after.drafts),
        *_part("launch", before.launch, after.launch, fact_words.LAUNCH),
        *_patches(before, after),
        *_further(before, after),
    )


def _targets(before: Mapping[str, TargetFacts], after: Mapping[str, TargetFacts]) -> Iterator[Change]:
    old = {name: _target(facts) for name, facts in before.items()}
    new = {name: _target(facts) for name, facts in after.items()}
    yield from _classes("/targets", old, new, fact_words.TARGET)


def _drafts(before: Sequence[DraftFacts], after: Sequence[DraftFacts]) -> Iterator[Change]:
    yield from _classes("/drafts", _by_architecture(before), _by_architecture(after), fact_words.DRAFT)


def _by_architecture(drafts: Sequence[DraftFacts]) -> dict[str, _Facts]:
    """The first class that takes a name loads it, so a name has one set of facts."""
    found: dict[str, _Facts] = {}
    for draft in drafts:
        facts = {key: value for key, value in _facts(draft).items() if key != "architectures"}
        flags = facts.pop("flags", {})
        flat = {f"{_FLAG}{name}": value for name, value in flags.items()} if isinstance(flags, Mapping) else {}
        for name in draft.architectures:
            found.setdefault(name, {**facts, **flat})
    return found


def _target(facts: TargetFacts) -> _Facts:
    methods = {"missing": list(facts.missing_methods), "needed": list(facts.needed_methods)}
    rest = {key: value for key, value in _facts(facts).items() if key not in {"target_class", *_METHODS}}
    return {**rest, "methods": methods}


def _classes(place: str, old: Mapping[str, _Facts], new: Mapping[str, _Facts], table: _Words) -> Iterator[Change]:
    """Yield what classes of both builds do otherwise, then those that only one has; alike ones together."""
    alike: dict[tuple[str, str], list[str]] = {}
    values: dict[tuple[str, str], tuple[object, object]] = {}
    for name in sorted(old.keys() & new.keys()):
        for what in sorted(old[name].keys() | new[name].keys(), key=_weight):
            pair = _value(old[name], what), _value(new[name], what)
            if pair[0] != pair[1]:
                alike.setdefault((what, repr(pair)), []).append(name)
                values[what, repr(pair)] = pair
    for key in sorted(alike, key=lambda key: _weight(key[0])):
        yield _changed(place, key[0], *values[key], table=table, classes=alike[key])
    yield from _listed(place, {name: new[name] for name in sorted(new.keys() - old.keys())}, came=True)
    yield from _listed(place, {name: old[name] for name in sorted(old.keys() - new.keys())}, came=False)


def _value(facts: _Facts, what: str) -> object:
    return facts.get(what, "ignored" if what.startswith(_FLAG) else None)


def _weight(what: str) -> tuple[int, str]:
    return (_FIRST.index(what) if what in _FIRST else len(_FIRST), what)


def _changed(place: str, what: str, before: object, after: object, *, table: _Words, classes: Sequence[str]) -> Change:
    step = "missing_methods" if what == "methods" else what
    return Change(
        place=f"{place}/{_key(classes[0])}/{step}" if len(classes) == 1 and place == "/targets" else place,
        what=what,
        before=before,
        after=after,
        sentence=f"{names(classes, noun='classes')}: {_said(table, what, before, after)}",
        classes=tuple(classes),
    )


def _key(name: str) -> str:
    """Escape a name as a step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _said(table: _Words, what: str, before: object, after: object) -> str:
    if what in _LISTS:
        return _list_said(what, before, after)
    if what.startswith(_FLAG):
        return f"the flag {what.removeprefix(_FLAG)} was {before}, now it is {after}"
    return f"before, {words(table, what, before)}; now, {words(table, what, after)}"


def _list_said(what: str, before: object, after: object) -> str:
    old, new = _entries(before), _entries(after)
    came, gone = [name for name in new if name not in old], [name for name in old if name not in new]
    now, no_longer = _LIST_WORDS[what]
    noun = "classes" if what == "default_classes" else "names"
    parts = [f"{now} {names(came, noun=noun)}"] if came else []
    parts += [f"{no_longer} {names(gone, noun=noun)}"] if gone else []
    return ", and ".join(parts) or f"{what}: the order differs"


def _entries(value: object) -> list[str]:
    listed = value if isinstance(value, list) else []
    return [_rename(entry) if isinstance(entry, Mapping) else str(entry) for entry in listed]


def _rename(entry: Mapping[str, object]) -> str:
    where = " at the start" if entry.get("anchored") else ""
    return f"{entry.get('old')} to {entry.get('new')}{where}"


def _listed(place: str, classes: Mapping[str, _Facts], *, came: bool) -> Iterator[Change]:
    """Yield classes that only one build has, those that it treats alike together."""
    alike: dict[str, list[str]] = {}
    for name, facts in classes.items():
        alike.setdefault(_use(place, facts), []).append(name)
    for use, together in alike.items():
        subject = names(together, noun="classes")
        sentence = f"{subject}: new here; {use}" if came and use else f"{subject}: {_arrival(place, came=came)}"
        present = {"listed": True, **({"use": use} if use else {})}
        yield Change(
            place=f"{place}/{_key(together[0])}" if len(together) == 1 and place == "/targets" else place,
            what="listed",
            before=None if came else present,
            after=present if came else None,
            sentence=sentence,
            classes=tuple(together),
        )


def _use(place: str, facts: _Facts) -> str:
    """Return what a class that is new is good for; nothing is said of the names of draft classes."""
    if place != "/targets":
        return ""
    said = words(fact_words.TARGET, "methods", facts.get("methods"))
    methods = facts.get("methods")
    lacking = isinstance(methods, Mapping) and bool(methods.get("needed"))
    if lacking:
        return said
    if facts.get("refused"):
        return words(fact_words.TARGET, "refused", facts["refused"])
    return words(fact_words.TARGET, "dialect", facts.get("dialect"))


def _arrival(place: str, *, came: bool) -> str:
    if place == "/drafts":
        return "drafters with this architecture load from here on" if came else "drafters with it load no longer"
    return "new here" if came else "no longer listed"


def _runners(before: Sequence[Runner], after: Sequence[Runner]) -> Iterator[Change]:
    old, new = ({runner.name: runner for runner in runners} for runners in (before, after))
    for name in dict.fromkeys([*old, *new]):
        subject, place = f"runner {name}" if name else "the runner", "/runners"
        if name not in old or name not in new:
            yield _runner_listed(subject, old.get(name), new.get(name))
            continue
        facts = {key: _facts(runner) for key, runner in (("old", old[name]), ("new", new[name]))}
        yield from _differences(
            place, facts["old"], facts["new"], fact_words.RUNNER, subject=subject, of=str(name or "")
        )


def _runner_listed(subject: str, old: Runner | None, new: Runner | None) -> Change:
    before, after = (None if runner is None else _facts(runner) for runner in (old, new))
    sentence = f"{subject} is gone"
    if after is not None:
        said = [words(fact_words.RUNNER, what, after[what]) for what in ("default_for", "keys")]
        sentence = f"{subject} is new: {'; '.join(said)}"
    return Change(place="/runners", what="listed", before=before, after=after, sentence=sentence)


def _part(name: str, before: object, after: object, table: _Words) -> Iterator[Change]:
    subjects = {"graphs": "decode graphs", "launch": "launching"}
    yield from _differences(f"/{name}", _facts(before), _facts(after), table, subject=subjects[name])


def _differences(
    place: str, old: _Facts, new: _Facts, table: _Words, *, subject: str, of: str = ""
) -> Iterator[Change]:
    for what in sorted(old.keys() | new.keys(), key=_weight):
        before, after = old.get(what), new.get(what)
        if before != after:
            yield Change(
                place=place if of else f"{place}/{what}",
                what=f"{of} {what}".strip(),
                before=before,
                after=after,
                sentence=f"{subject}: {_said(table, what, before, after)}",
            )


def _patches(before: Profile, after: Profile) -> Iterator[Change]:
    old, new = ({patch.name: patch for patch in profile.patches} for profile in (before, after))
    for name in dict.fromkeys([*old, *new]):
        mine, theirs = _patch(old.get(name)), _patch(new.get(name))
        if mine != theirs:
            what = "listed" if mine is None or theirs is None else "patch"
            sentence = _patch_said(old.get(name), new.get(name), after)
            yield Change(place="/patches", what=what, before=mine, after=theirs, sentence=sentence)


def _patch(patch: Patch | None) -> object:
    return None if patch is None else _facts(patch)


def _patch_said(old: Patch | None, new: Patch | None, after: Profile) -> str:
    if old is not None and new is not None:
        return f"the {new.purpose} patch {new.name} is another one"
    if new is not None:
        return f"the {new.purpose} patch {new.name} is new: {new.summary}"
    if old is None:
        return ""
    since = old.upstream_since
    if since is not None and Version.parse(since) <= Version.parse(after.version):
        return f"the {old.purpose} patch {old.name} is not in it and not needed: upstream has the same since {since}"
    has = f"; upstream has it only since {since}" if since else ""
    return f"the {old.purpose} patch {old.name} is not in it: {old.summary}{has}"


_SAID: Final = frozenset({"targets", "runners", "graphs", "drafts", "launch", "patches"})
_NAMES: Final = frozenset({"engine", "version", "revision", "digest", "upstream"})


def _further(before: Profile, after: Profile) -> Iterator[Change]:
    """Yield differences in parts that have no words here yet: shown plainly rather than passed over."""
    for entry in fields(Profile):
        if entry.name in _SAID | _NAMES | NOT_FACTS:
            continue
        old, new = _plain(getattr(before, entry.name)), _plain(getattr(after, entry.name))
        if old != new:
            sentence = f"{entry.name}: before, {plainly(old)}; now, {plainly(new)}"
            yield Change(place=f"/{entry.name}", what=entry.name, before=old, after=new, sentence=sentence)


def _facts(part: Any) -> dict[str, object]:
    return {entry.name: _plain(getattr(part, entry.name)) for entry in fields(part) if entry.name not in NOT_FACTS}


_PLAIN: Final[Sequence[tuple[type, Callable[[Any], object]]]] = (
    (Mapping, lambda value: {str(key): _plain(inner) for key, inner in value.items()}),
    (tuple, lambda value: [_plain(inner) for inner in value]),
    (list, lambda value: [_plain(inner) for inner in value]),
)


def _plain(value: object) -> object:
    if is_dataclass(value):
        return _facts(value)
    return next((made(value) for kind, made in _PLAIN if isinstance(value, kind)), value)
