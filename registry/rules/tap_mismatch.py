"""The build reads other hidden states than the drafter was trained on.

## What it checks
The taps that the build really captures, in prefill and in decode, are the trained ones: the same depths, stream and
norm, in the same order. Both sides are counted in depths (decoder layers already applied), never in layer ids.

## Why it matters
Nothing in the weights says which states they were trained on. Shapes agree, the server starts healthy, and the only
symptom is a low acceptance rate: 19 % of the draft tokens and 54 tok/s in the founding case, against 88 tok/s without
a drafter at all.

## Example
A drafter trained on depths 3, 31, 59 with this config on SGLang 0.5.23, whose Kimi-K2.5 class reads ids as depths:

    "eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 30, 58]}

It captures 2, 30, 58. The same config is right on SGLang 0.5.12, where id k is the output of layer k.

## How to fix
Write the ids that this build reads as the trained taps; the finding suggests them. No retraining is needed for a
config that is wrong. Where only the order differs, `fc`'s column blocks can be permuted, exactly. Where the class
captures another stream, only another build or retraining helps.

## Limits
Agreement is no promise of a good acceptance rate: it says that the states are those of training, not that the
training was good. Trained taps that are not known are an error: nobody may guess them.

## References
Public reports: sglang #25454, vllm #43671, vllm #50170.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from registry.domain import dialects
from registry.domain.case import Case
from registry.domain.findings import Evidence, Finding, Remedy, Severity
from registry.domain.reading import PhaseTaps
from registry.domain.taps import Taps, at_depths, depths_of, spell
from registry.domain.verdict import cost_of
from registry.domain.versions import Version
from registry.rules import evidence
from registry.rules.drafter import build_name, class_name, used_at
from registry.rules.rule import Rule
from registry.rules.specimen import facts, ids, phases, reading, specimen, trained
from registry.rules.tap_remedies import for_taps, is_inexpressible, other_streams
from registry.rules.wording import id_list

_SINCE: Final[Mapping[str, str]] = {
    "first_is_one": "ids of this class are read as depths unless the first is 1",
    "max_is_depth": "ids of this class are read as depth k+1 unless the largest is the layer count",
    "identity": "ids of this class are read as depths",
    "plus_one": "ids of this class are read as outputs of layers: id k is depth k+1",
}
"""How a class has counted since it last changed, in words."""

_ENGINES: Final[Mapping[str, str]] = {"sglang": "SGLang", "vllm": "vLLM"}


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per set of taps that differ from the trained ones, or one that says what is not known."""
    reading, wanted = case.reading, case.trained.taps
    if wanted is None:
        if case.trained.impossible:
            return  # a record that is wrong has a rule of its own
        yield _unknown(f"the trained taps are not known: {case.trained.why_unknown}", "trained taps", at="/checkpoint")
        return
    if reading is None:
        return
    if reading.taps is None:
        if _unexplained(case):
            message = f"what {build_name(case)} captures on {class_name(case)} is not known"
            yield _unknown(message, "effective taps", at="/engine")
        return
    wrong = {phase: taps for phase, taps in reading.taps.items() if taps != wanted}
    for taps in dict.fromkeys(wrong.values()):
        yield _mismatch(case, tuple(phase for phase, found in wrong.items() if found == taps), taps, wanted)


def _mismatch(case: Case, phases: tuple[str, ...], taps: Taps, wanted: Taps) -> Finding:
    remedies = _remedies(case, phases, taps, wanted)
    verb = "reads" if len(phases) == 1 else "read"
    parts = [f"{' and '.join(phases)} {verb} {spell(taps)} where training had {spell(wanted)}"]
    parts += _causes(case, phases, taps, wanted)
    if cost_of(remedies[0]) < cost_of(Remedy.RETRAIN):
        parts.append("no retraining is needed")
    return Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message="; ".join(parts),
        at=used_at(case),
        remedies=remedies,
        evidence=(evidence.trained(case), *(evidence.effective(case, p, taps) for p in phases), *_counting(case)),
    )


def _remedies(case: Case, phases: tuple[str, ...], taps: Taps, wanted: Taps) -> tuple[Remedy, ...]:
    graphs = case.profile.graphs if case.profile else None
    if _is_default_of_graphs(case, phases) and graphs is not None and graphs.disable_option is None:
        return (Remedy.ENGINE,)
    same_states = bool(taps) and set(taps) == set(wanted)
    return (Remedy.CONVERT, Remedy.ENGINE) if same_states else for_taps(case)


def _causes(case: Case, phases: tuple[str, ...], taps: Taps, wanted: Taps) -> Iterator[str]:
    """Say why the taps are what they are, as far as it can be told."""
    read = case.reading
    if read is None:
        return
    if not read.captures:
        yield read.off_because
    elif set(taps) == set(wanted):
        yield "these are the same states in another order: permuting the column blocks of fc mends it exactly"
    elif other_streams(wanted, taps):
        yield f"{class_name(case)} captures another stream here, and no id changes that"
    elif _is_default_of_graphs(case, phases):
        yield "decode graphs keep the default of the class, whatever the ids"
    elif wanted == ():
        yield from _switches(case)
    elif case.target_facts is not None and case.target_facts.captures == "nothing":
        yield f"{class_name(case)} captures nothing here, whatever the ids"
    elif read.used is not None:
        yield from _counting_causes(case, read.used.ids or (), wanted)


def _counting_causes(case: Case, used: tuple[int, ...], wanted: Taps) -> Iterator[str]:
    facts, layers = case.target_facts, case.target.layers if case.target else None
    if facts is None or layers is None or case.profile is None:
        return
    since = case.lineage.dialect_since(case.profile.upstream or case.profile.version)
    if since is not None and _served_before(case, since) and facts.dialect in _SINCE:
        yield f"from {since} {_SINCE[facts.dialect]}"
    elif facts.dialect == "identity" and _as_outputs(used) == depths_of(wanted):
        engine = _ENGINES.get(case.profile.engine, case.profile.engine)
        yield f"{engine} counts depths; SGLang before 0.5.13 counted layers, and still does for most classes"
    elif facts.dialect in dialects.READERS:
        yield f"{case.profile.build} reads {id_list(used)} this way: {dialects.MEANING[facts.dialect]}"
    right = None if is_inexpressible(case) else _right_ids(facts.dialect, wanted, layers=layers)
    if right is not None and right != used:
        yield f"use {id_list(right)}"


def _switches(case: Case) -> Iterator[str]:
    """Say what turns capturing off for a drafter of no taps: a key of the config, with this runner or another."""
    runners, name = case.profile.runners if case.profile else (), case.reading.runner if case.reading else None
    able = [runner for runner in runners if runner.capture_off]
    here = next((runner for runner in able if runner.name == name), None)
    if here is not None and here.capture_off is not None:
        yield f"set {here.capture_off} to false"
    elif able:
        other = str(able[0].name).upper()
        yield f"this runner ({name}) captures whatever the config says; with {other} the config can switch it off"


def _served_before(case: Case, version: str) -> bool:
    """Tell whether an older listed build serves the class: only then did the counting change at `version`."""
    return any(e.supported and Version.parse(e.version) < Version.parse(version) for e in case.lineage.entries)


def _as_outputs(used: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(number + 1 for number in used)


def _right_ids(dialect: str, wanted: Taps, *, layers: int) -> tuple[int, ...] | None:
    depths = depths_of(wanted)
    if any(depth < 0 or depth > layers for depth in depths) or depths != tuple(sorted(set(depths))):
        return None
    spellings = dialects.candidates(dialect, depths)
    return next((ids for ids in spellings if dialects.read(dialect, ids, layers=layers) == depths), None)


def _is_default_of_graphs(case: Case, phases: tuple[str, ...]) -> bool:
    return phases == ("decode",) and case.reading is not None and case.reading.decode_graphs == "default"


def _counting(case: Case) -> tuple[Evidence, ...]:
    facts, read = case.target_facts, case.reading
    counting = () if facts is None else (evidence.of_class(case, "counting of ids", dialects.MEANING[facts.dialect]),)
    used = read.used if read else None
    written = () if used is None else (evidence.configured(case, used.pointer, list(used.ids or ())),)
    return (*written, *counting)


def _unexplained(case: Case) -> bool:
    """Tell whether no other rule says why there are no taps: a failure, an unknown class, runner or layer count."""
    read, facts, profile = case.reading, case.target_facts, case.profile
    if read is None or read.failures or facts is None or profile is None or not facts.supported:
        return False
    unresolved = dialects.UNRESOLVED in (facts.dialect, facts.captures, facts.default)
    placed = case.target is not None and case.target.layers is not None
    return placed and not unresolved and any(runner.name == read.runner for runner in profile.runners)


def _unknown(message: str, fact: str, *, at: str) -> Finding:
    return Finding(
        code=RULE.code, severity=Severity.ERROR, message=message, at=at, remedies=(Remedy.UNKNOWN,), unknown=fact
    )


RULE = Rule(
    code="TAP101",
    name="tap-mismatch",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal"}),
    weighs_unknown=Severity.ERROR,
    check=check,
)

_BRANCH = at_depths((3, 31, 59), stream="branch")

PASSES = (specimen(), specimen(reading=None))

FAILS = (
    specimen(reading=reading(taps=phases((2, 30, 58)), found=(ids(1, 29, 57),))),
    specimen(reading=reading(taps=phases((3, 31, 59), (2, 30, 58)), decode_graphs="default")),
    specimen(trained=trained(59, 31, 3), reading=reading(expressible=False)),
    specimen(trained=replace(trained(), taps=None, why_unknown="the standardization 'mine' is not known here")),
    specimen(
        target_facts=facts(stream="branch"),
        reading=reading(taps=PhaseTaps(prefill=_BRANCH, decode=_BRANCH)),
    ),
)
