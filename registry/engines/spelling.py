"""Spelling trained taps for a build: ids whose forward reading is exactly the trained taps, or a stated refusal.

The law, tested over every shipped profile and class: what is spelled reads back as the trained taps in every phase.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from registry.domain import dialects
from registry.domain.profile import Runner
from registry.domain.proposal import Launch
from registry.domain.reading import Reading
from registry.domain.taps import Taps, depths_of, spell
from registry.domain.tensors import Inventory
from registry.engines.draft_config import cleaned, with_value
from registry.engines.engine import Engine
from registry.engines.reader import Situation, read
from registry.engines.runners import choose_runner


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How trained taps are written for a build."""

    ids: tuple[int, ...]
    """Empty: trained on no taps, and what is written switches capturing off."""
    pointer: str
    """Where the build reads them."""
    config: dict[str, object]
    """The whole draft config with these ids."""
    options: tuple[str, ...]
    """Launch options without which a phase would read other taps."""
    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSpelling:
    """Why there is none."""

    reason: str


def switched_off(config: Mapping[str, object], pointer: str, inventory: Inventory) -> dict[str, object]:
    """Return `config` without ids and with capturing off at `pointer`, for a drafter of the last state only.

    Such a head may still hold an `fc` over one state, and builds that make `fc` whatever is captured must size it so.
    """
    off = with_value(cleaned(config), pointer, value=False)
    fc = inventory.find("fc.weight")
    return off if fc is None else with_value(off, "/num_aux_hidden_states", 1)


def spell_taps(engine: Engine, situation: Situation, trained: Taps) -> Spelling | NoSpelling:
    """Return ids, config and options that make the build read `trained` in every phase, or why there are none.

    The config starts from `situation.config`; the launch is `situation.launch` plus what turns out to be needed.
    """
    situation = replace(situation, launch=_without_algorithm(situation.launch))
    runner, why = choose_runner(situation.profile, situation.target, situation.launch, asked=situation.runner)
    if runner is None:
        return NoSpelling(reason=why)
    reason = _hopeless(situation)
    if reason:
        return NoSpelling(reason=reason)
    if not trained:
        return _without_taps(runner, situation)
    for options in _option_sets(situation):
        for ids in _candidates(runner, situation, trained):
            config = engine.write_ids(situation.config, ids, situation.profile)
            reading = read(replace(situation, config=config, launch=with_options(situation.launch, options)))
            if reading.taps is not None and reading.taps.prefill == reading.taps.decode == trained:
                pointer = reading.used.pointer if reading.used else ""
                return Spelling(ids=ids, pointer=pointer, config=config, options=options, reading=reading)
    return NoSpelling(reason=_inexpressible(situation, trained))


def _without_algorithm(launch: Launch | None) -> Launch | None:
    """Leave out which algorithm a launch selects: what ids can spell does not depend on it."""
    return None if launch is None else replace(launch, speculation=None)


def _without_taps(runner: Runner, situation: Situation) -> Spelling | NoSpelling:
    """Switch capturing off, where this runner lets the config do that."""
    if runner.capture_off is None:
        others = [
            f", while its runner {other.name} does not" for other in situation.profile.runners if other.capture_off
        ]
        return NoSpelling(
            reason=f"trained on no taps, and {_of(runner)} captures whatever the config says{''.join(others)}"
        )
    config = switched_off(situation.config, runner.capture_off, situation.inventory)
    reading = read(replace(situation, config=config))
    if reading.taps is None or reading.taps.prefill or reading.taps.decode:
        return NoSpelling(reason=f"trained on no taps, and {_of(runner)} captures some")
    return Spelling(ids=(), pointer=runner.capture_off, config=config, options=(), reading=reading)


def _of(runner: Runner) -> str:
    return f"the runner {runner.name}" if runner.name else "this build"


def _hopeless(situation: Situation) -> str:
    """Say why no id list can help here; empty where it is worth trying."""
    facts, build = situation.facts, situation.profile.build
    if facts is None:
        return f"{build} does not list the target class {situation.target.target_class}"
    reasons = (
        (situation.target.layers is None, "the target's layer count is unknown"),
        (bool(facts.needed_methods), f"{facts.target_class} lacks {', '.join(facts.needed_methods)} on {build}"),
        (not facts.supported, f"{build} refuses {facts.target_class}: {facts.refused}"),
        (facts.captures == "nothing", f"{facts.target_class} captures nothing on {build}, whatever the ids"),
        (
            dialects.UNRESOLVED in (facts.dialect, facts.captures),
            f"what {build} captures on {facts.target_class} is not established",
        ),
    )
    return next((reason for holds, reason in reasons if holds), "")


def _option_sets(situation: Situation) -> Iterator[tuple[str, ...]]:
    yield ()
    graphs = situation.profile.graphs
    if graphs.disable_option and not graphs.ids_hold:
        yield (graphs.disable_option,)


def _candidates(runner: Runner, situation: Situation, trained: Taps) -> Iterator[tuple[int, ...]]:
    """Undo the class's dialect, then the key's own counting."""
    facts = situation.facts
    if facts is None or not runner.keys:
        return
    shift = -1 if runner.keys[0].dialect == "plus_one" else 0
    for ids in dialects.candidates(facts.dialect, depths_of(trained)):
        yield tuple(number + shift for number in ids)


def _inexpressible(situation: Situation, trained: Taps) -> str:
    facts, build = situation.facts, situation.profile.build
    meaning = dialects.MEANING[facts.dialect] if facts else "unknown"
    depths = depths_of(trained)
    if depths != tuple(sorted(set(depths))):
        return f"{build} concatenates taps in ascending depth, each once, and trained are {spell(trained)}"
    return f"no id list on {build} reads as {spell(trained)} ({meaning})"


def with_options(launch: Launch | None, options: tuple[str, ...]) -> Launch | None:
    """Return `launch` with `options` added; None stays None when nothing is added."""
    if not options:
        return launch
    launch = launch or Launch(text="")
    text = " ".join([*([launch.text] if launch.text else []), *options])
    return replace(launch, text=text, options=dict(launch.options) | dict.fromkeys(options))
