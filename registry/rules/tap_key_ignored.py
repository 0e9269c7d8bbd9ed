"""Layer ids stand under a key that this build does not read.

## What it checks
Every place of the draft config where some trainer or engine keeps layer ids, against the places that this build's
runner reads.

## Why it matters
An ignored key is ignored without a word, and the default holds. SGLang reads `eagle_config` only; vLLM's V2 runner
reads the top level only; the file looks right to anyone who reads it.

## Example
On SGLang:

    {"eagle_aux_hidden_state_layer_ids": [2, 30, 58]}

The key is read only inside `eagle_config`, so depths 2, 30, 58 of the default are captured where 3, 31, 59 were meant.

## How to fix
Put the ids where this build reads them, counted as it counts them there.

## Limits
A key that no engine is known to read is not looked for.

## References
Reader functions of SGLang and vLLM as their profiles cite them.
"""

from collections.abc import Iterator

from registry.domain import dialects
from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.profile import Runner
from registry.domain.reading import FoundIds
from registry.domain.taps import spell
from registry.rules import evidence
from registry.rules.rule import Rule
from registry.rules.specimen import TOP_LEVEL, ids, phases, reading, specimen
from registry.rules.tap_remedies import for_taps
from registry.rules.wording import id_list


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per list of ids that is there and not read."""
    read = case.reading
    if read is None:
        return
    for found in read.ignored:
        misleads = read.used is None and _differs(case)
        yield Finding(
            code=RULE.code,
            severity=Severity.ERROR if misleads else Severity.WARNING,
            message=_message(case, found, misleads=misleads),
            at=f"/draft_config{found.pointer}",
            remedies=for_taps(case) if misleads else (Remedy.CONFIG,),
            evidence=(
                evidence.configured(case, found.pointer, list(found.ids) if found.ids is not None else None),
                evidence.of_build(case, "keys read", _keys_read(case), at=_runner_at(case)),
                evidence.trained(case),
            ),
        )


def _message(case: Case, found: FoundIds, *, misleads: bool) -> str:
    read = case.reading
    nested = found.pointer.count("/") > 1
    spelled = id_list(found.ids) if found.ids is not None else "a value that is no list of ids"
    place = "nested" if nested else "top-level"
    parts = [f"the {place} ids {spelled} at {found.pointer}: {_ignored_by(case, place)}"]
    if read is not None and read.used is not None:
        parts.append(f"it reads {read.used.pointer} instead")
    else:
        parts.append("it falls back to its default without a word")
    if misleads and read is not None and read.taps is not None and case.trained.taps is not None:
        parts.append(f"so it captures {spell(read.taps.prefill)} where training had {spell(case.trained.taps)}")
    parts += _read_elsewhere(case, found)
    return "; ".join(parts)


def _ignored_by(case: Case, place: str) -> str:
    name = case.reading.runner if case.reading else None
    if name is None:
        return "this build does not read that key"
    return f"{place} ids are ignored by this runner ({name})"


def _read_elsewhere(case: Case, found: FoundIds) -> Iterator[str]:
    """Name the other runners of the build that do read the key, and how they count there."""
    name = case.reading.runner if case.reading else None
    for runner in case.profile.runners if case.profile else ():
        key = next((key for key in runner.keys if key.pointer == found.pointer), None)
        if key is not None and runner.name is not None and runner.name != name:
            yield f"with {runner.name.upper()} they are {_counted(case, key.dialect)}"


def _counted(case: Case, key_dialect: str) -> str:
    facts = case.target_facts
    if facts is None or facts.dialect not in dialects.READERS:
        return "read"
    if (key_dialect, facts.dialect) == ("identity", "identity"):
        return "read as depths"
    return "read as outputs of layers" if "plus_one" in (key_dialect, facts.dialect) else "read"


def _differs(case: Case) -> bool:
    taps, wanted = case.reading.taps if case.reading else None, case.trained.taps
    return taps is not None and (wanted is None or taps.prefill != wanted or taps.decode != wanted)


def _runner(case: Case) -> Runner | None:
    runners, name = case.profile.runners if case.profile else (), case.reading.runner if case.reading else None
    return next((runner for runner in runners if runner.name == name), None)


def _keys_read(case: Case) -> list[str]:
    runner = _runner(case)
    return [key.pointer for key in runner.keys] if runner else []


def _runner_at(case: Case) -> str:
    runner = _runner(case)
    return runner.at if runner else ""


RULE = Rule(
    code="TAP105",
    name="tap-key-ignored",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "reading"}),
    check=check,
)

PASSES = (specimen(),)

FAILS = (
    specimen(
        reading=reading(found=(ids(2, 30, 58, pointer=TOP_LEVEL, used=False),), requested=(), taps=phases((2, 30, 58)))
    ),
    specimen(reading=reading(found=(ids(2, 30, 58), ids(3, 31, 59, pointer=TOP_LEVEL, used=False)))),
)
