"""Reading a proposal as one engine build would: from ids in a config to taps per phase, and how the start ends.

Everything here is driven by the profile. The steps, in the order an engine takes them: pick the runner, find the
ids, call the class's setter, capture decode graphs, build and load the draft, run a first pass.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from registry.domain.profile import Profile, Runner, TargetFacts
from registry.domain.proposal import Launch
from registry.domain.reading import DraftReading, Failure, FoundIds, Outcome, PhaseTaps, Reading
from registry.domain.taps import RESIDUAL, Tap, Taps
from registry.domain.target import Target
from registry.domain.tensors import Inventory
from registry.engines.capture import Captured, left_captured
from registry.engines.config_ids import ABSENT, id_lists, look_up, whole_number, whole_numbers
from registry.engines.draft_load import first_architecture, read_draft, without_fc
from registry.engines.runners import choose_runner

Graphs = Literal["ids", "default", "off"]
When = Literal["start", "pass"]

_NUMBERS: Final = ("hidden_size", "num_hidden_layers", "vocab_size")
_TAP_COUNT: Final = "num_aux_hidden_states"
SPECULATORS: Final = "transformer_layer_config"
"""Where configs of the speculators format keep the numbers of the draft layer."""

_LONGEST_SHOWN: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a reading is made of: one build with one draft config, drafter, target and launch."""

    profile: Profile
    config: Mapping[str, object]
    inventory: Inventory
    target: Target
    launch: Launch | None = None
    runner: str | None = None
    """The runner that was asked for, or None for the build's default."""

    @property
    def facts(self) -> TargetFacts | None:
        """What the profile knows about the target's class, or None."""
        return self.profile.targets.get(self.target.target_class or "")


def read(situation: Situation) -> Reading:
    """Return what the build makes of the situation. Unknown parts give an `unknown` outcome, never a guess."""
    runner, why = choose_runner(situation.profile, situation.target, situation.launch, asked=situation.runner)
    facts, layers = situation.facts, situation.target.layers
    name = runner.name if runner else situation.runner
    found = _found(runner, situation.config) if runner else ()
    draft = _draft(situation)
    if runner is None or facts is None or layers is None:
        return Reading(outcome=Outcome.UNKNOWN, runner=name, runner_why=why, taps=None, found=found, draft=draft)
    capture = _capture(situation, facts, runner, found, layers=layers)
    failures = (*_launch_failures(situation), *capture.failures, *_draft_failures(situation, runner, draft, capture))
    return Reading(
        outcome=_outcome(capture, failures, found),
        runner=name,
        runner_why=why,
        taps=capture.taps,
        found=found,
        requested=capture.requested,
        lost=capture.lost,
        decode_graphs=capture.graphs,
        captures=not capture.off,
        off_because=capture.off,
        failures=failures,
        draft=_with_bypass(draft, situation, capture),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Capture:
    """The target side of a reading."""

    taps: PhaseTaps | None
    requested: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    graphs: Graphs = "ids"
    off: str = ""
    """What switches capturing off, in words; empty where nothing does."""
    unresolved: bool = False
    failures: tuple[Failure, ...] = ()


def _found(runner: Runner, config: Mapping[str, object]) -> tuple[FoundIds, ...]:
    """List every id list in the config; the first key of the runner that holds ids is the one in use."""
    used = next((key.pointer for key in runner.keys if _holds_ids(look_up(config, key.pointer), runner)), None)
    return tuple(
        FoundIds(pointer=pointer, ids=whole_numbers(value), used=pointer == used)
        for pointer, value in id_lists(config)
        if value != [] or pointer == used
    )


def _holds_ids(value: object, runner: Runner) -> bool:
    if value is ABSENT or value is None:
        return False
    return bool(value) or (value == [] and runner.empty_ids == "nothing")


def _capture(
    situation: Situation, facts: TargetFacts, runner: Runner, found: tuple[FoundIds, ...], *, layers: int
) -> _Capture:
    off = _other_algorithm(situation) or _switched_off(runner, situation.config)
    if off:
        return _Capture(taps=PhaseTaps(prefill=(), decode=()), off=off)
    used = next((entry for entry in found if entry.used), None)
    if used is not None and used.ids is None and facts.supported:
        return _Capture(taps=None, failures=(_bad_value(used),))
    ids = _before_class(runner, used)
    prefill = left_captured(facts, ids, layers=layers)
    decode, graphs = prefill, _graphs(situation, prefill, used)
    if graphs == "default":
        # The graph runner has called the setter without ids before; some classes only ever add to what they capture.
        decode = left_captured(facts, None, layers=layers)
        prefill = left_captured(facts, ids, layers=layers, after_default=True)
    if prefill.depths is None or decode.depths is None:
        return _uncaptured(facts, prefill, graphs)
    return _Capture(
        taps=PhaseTaps(prefill=_taps(facts, prefill.depths), decode=_taps(facts, decode.depths)),
        requested=prefill.requested if used else (),
        lost=prefill.lost,
        graphs=graphs,
        failures=_pass_failures(situation, facts, prefill.depths, decode.depths, graphs),
    )


def _switched_off(runner: Runner, config: Mapping[str, object]) -> str:
    if runner.capture_off is None:
        return ""
    value = look_up(config, runner.capture_off)
    off = value is not ABSENT and not value
    return f"the config switches capturing off ({runner.capture_off.rpartition('/')[2]} is false)" if off else ""


def _other_algorithm(situation: Situation) -> str:
    """Say that the launch names another algorithm: only EAGLE-3 captures states on the way."""
    wanted, asked = situation.profile.launch.algorithm, situation.launch.speculation if situation.launch else None
    if asked is None or asked.method in (None, wanted):
        return ""
    return f"{asked.option} with {asked.method} captures no states on the way; {wanted} does"


def _launch_failures(situation: Situation) -> Iterator[Failure]:
    asked = situation.launch.speculation if situation.launch else None
    if asked is not None and asked.broken:
        yield Failure(code="launch", message=f"{asked.option} cannot be read: {asked.broken}", when="start")


def _bad_value(used: FoundIds) -> Failure:
    message = f"{used.pointer} is not a list of whole numbers, and this build does not check it"
    return Failure(code="bad_value", message=message, when="start")


def _before_class(runner: Runner, used: FoundIds | None) -> tuple[int, ...] | None:
    """Apply the key's own counting; the class's dialect comes after it."""
    if used is None or used.ids is None:
        return None
    key = next(key for key in runner.keys if key.pointer == used.pointer)
    return tuple(number + 1 for number in used.ids) if key.dialect == "plus_one" else used.ids


def _graphs(situation: Situation, prefill: Captured, used: FoundIds | None) -> Graphs:
    graphs = situation.profile.graphs
    if situation.launch is not None and situation.launch.has(graphs.disable_option):
        return "off"
    return "ids" if graphs.ids_hold or used is None or prefill.depths is None else "default"


def _uncaptured(facts: TargetFacts, captured: Captured, graphs: Graphs) -> _Capture:
    """The setter is missing, raises, or is not understood: nothing can be said about taps."""
    if captured.unresolved:
        return _Capture(taps=None, requested=captured.requested, graphs=graphs, unresolved=True)
    failure = Failure(code="setter_raises" if facts.supported else "no_setter", message=captured.raises, when="start")
    return _Capture(taps=None, requested=captured.requested, graphs=graphs, failures=(failure,))


def _taps(facts: TargetFacts, depths: tuple[int, ...]) -> Taps:
    # The embedding output has no branch to take: only deeper states can lack the residual.
    return tuple(Tap(depth=depth, stream=facts.stream if depth else RESIDUAL) for depth in depths)


def _pass_failures(
    situation: Situation, facts: TargetFacts, prefill: tuple[int, ...], decode: tuple[int, ...], graphs: Graphs
) -> tuple[Failure, ...]:
    failures = []
    if facts.captures == "nothing":
        message = f"{facts.target_class} captures nothing on this build, whatever the ids"
        failures.append(Failure(code="captures_nothing", message=message, when=_first_pass(situation)))
    if facts.depth_zero == "raises" and 0 in (*prefill, *decode):
        in_graphs = 0 in decode and graphs != "off"
        message = f"{facts.target_class} fails when it captures depth 0: there is no residual before layer 0"
        failures.append(
            Failure(code="depth_zero", message=message, when="start" if in_graphs else _first_pass(situation))
        )
    return tuple(failures)


def _first_pass(situation: Situation) -> When:
    launch = situation.profile.launch
    skipped = situation.launch is not None and situation.launch.has(launch.skip_startup_pass)
    return "start" if launch.startup_pass and not skipped else "pass"


def _draft(situation: Situation) -> DraftReading:
    architecture = first_architecture(situation.config)
    draft = situation.profile.draft(architecture) if architecture else None
    return read_draft(draft, situation.config, situation.inventory, target_hidden=situation.target.hidden_size)


def _draft_failures(
    situation: Situation, runner: Runner, draft: DraftReading, capture: _Capture
) -> tuple[Failure, ...]:
    if not draft.supported:
        message = f"no draft class of this build loads {draft.architecture or 'a config without architectures'}"
        return (Failure(code="draft_class", message=message, when="start"),)
    return (*_load_failures(situation, draft), *_width_failures(situation, runner, draft, capture))


def _load_failures(situation: Situation, draft: DraftReading) -> tuple[Failure, ...]:
    failures = []
    if draft.load.refused:
        message = f"this build refuses tensors it does not know: {', '.join(draft.load.refused[:3])}"
        failures.append(Failure(code="tensor_refused", message=message, when="start"))
    failures.extend(_shape_failures(situation, draft))
    facts = situation.profile.draft(draft.architecture or "")
    failures.extend(_number_failures(situation.config, facts.tap_count if facts else ()))
    layers = whole_number(situation.config, "/num_hidden_layers")
    if layers is not None and layers != 1 and facts is not None and not facts.many_layers:
        message = f"num_hidden_layers is {layers}, and this build's draft class takes exactly one layer"
        failures.append(Failure(code="layers", message=message, when="start"))
    return tuple(failures)


def _number_failures(config: Mapping[str, object], tap_count: tuple[str, ...]) -> Iterator[Failure]:
    """Say which numbers that every draft class computes with are none: the check of shapes cannot see those."""
    optional = {"draft_vocab_size", "target_hidden_size", *({_TAP_COUNT} & set(tap_count))}
    for key in (*_NUMBERS, *sorted(optional)):
        value = config.get(key)
        pointer = f"/{key}"
        if key in optional and (value is None or (value == 0 and whole_number(config, pointer) == 0)):
            continue  # absent, null or none: what that means has rules of its own
        if key not in config and SPECULATORS not in config:
            message = f"the draft config has no {key}, so the default of its config class holds, whatever the weights"
            yield Failure(code="bad_value", message=message, when="start", pointer=pointer)
        elif key in config and (whole_number(config, pointer) or 0) < 1:
            message = f"{key} is {_shown(value)}, and the build computes with it as a whole number from 1"
            yield Failure(code="bad_value", message=message, when="start", pointer=pointer)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _shape_failures(situation: Situation, draft: DraftReading) -> Iterator[Failure]:
    """Every build that was read asserts these two shapes while loading."""
    for name, built in (("fc.weight", draft.fc_built), ("lm_head.weight", _head_built(situation))):
        stored = situation.inventory.find(name)
        if stored is not None and built is not None and stored.shape != built:
            message = f"{name} is {list(stored.shape)}, but this build makes it {list(built)}"
            yield Failure(code="shape", message=message, when="start")


def _head_built(situation: Situation) -> tuple[int, int] | None:
    config = situation.config
    if config.get("draft_vocab_size", 0) is None:
        return None  # the target's head is installed
    rows = whole_number(config, "/draft_vocab_size") or whole_number(config, "/vocab_size")
    hidden = whole_number(config, "/hidden_size")
    return (rows, hidden) if rows and hidden else None


def _width_failures(
    situation: Situation, runner: Runner, draft: DraftReading, capture: _Capture
) -> tuple[Failure, ...]:
    if capture.taps is None or draft.tap_count is None:
        return ()
    counts = sorted({len(taps) for _, taps in capture.taps.items()})
    wrong = [count for count in counts if count not in (draft.tap_count, _bypass_count(situation, draft))]
    if not wrong or capture.off:
        return ()
    message = f"{wrong[0]} states are captured and fc takes {draft.tap_count}: the first draft pass fails"
    when = _first_pass(situation) if runner.startup_runs_fc else "pass"
    return (Failure(code="too_few", message=message, when=when),)


def _bypass_count(situation: Situation, draft: DraftReading) -> int | None:
    """One captured state as wide as the draft's embedding skips `fc` without a word, in builds that bypass."""
    hidden = whole_number(situation.config, "/hidden_size")
    equal = hidden is not None and hidden == situation.target.hidden_size
    facts = situation.profile.draft(draft.architecture or "")
    return 1 if equal and facts is not None and facts.fc_bypass else None


def _with_bypass(draft: DraftReading, situation: Situation, capture: _Capture) -> DraftReading:
    if capture.taps is None or _bypass_count(situation, draft) is None:
        return draft
    several = draft.tap_count not in (None, 1)
    if capture.off:
        # What never runs need not be filled.
        load = replace(draft.load, untouched=without_fc(draft.load.untouched))
        return replace(draft, fc_bypassed=several, load=load)
    bypassed = several and any(len(taps) == 1 for _, taps in capture.taps.items())
    return replace(draft, fc_bypassed=True) if bypassed else draft


def _outcome(capture: _Capture, failures: tuple[Failure, ...], found: tuple[FoundIds, ...]) -> Outcome:
    if any(failure.when == "start" for failure in failures):
        return Outcome.REFUSES
    if capture.unresolved:
        return Outcome.UNKNOWN
    if failures:
        return Outcome.CRASHES
    ignored = bool(found) and not any(entry.used for entry in found)
    return Outcome.DEFAULTS if ignored else Outcome.SERVES
