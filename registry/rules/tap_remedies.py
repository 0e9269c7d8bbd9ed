"""What mends taps that are not the trained ones: shared by the rules of family TAP."""

from collections.abc import Iterable

from registry.domain import dialects
from registry.domain.case import Case
from registry.domain.findings import Remedy
from registry.domain.taps import Tap, Taps, depths_of


def for_taps(case: Case) -> tuple[Remedy, ...]:
    """Return the alternatives that make this build read the trained taps, cheap to dear."""
    trained, reading = case.trained.taps, case.reading
    if trained is None or reading is None:
        return (Remedy.UNKNOWN,)
    if case.target_facts is not None and case.target_facts.captures == "nothing":
        return (Remedy.ENGINE,)
    if reading.taps is not None and other_streams(trained, (*reading.taps.prefill, *reading.taps.decode)):
        return (Remedy.ENGINE, Remedy.RETRAIN)
    if not trained:
        return (Remedy.CONFIG,) if can_switch_off(case) else (Remedy.ENGINE,)
    if is_inexpressible(case):
        return for_inexpressible(case)
    return (Remedy.CONFIG, Remedy.ENGINE) if reading.decode_graphs == "default" else (Remedy.CONFIG,)


def for_inexpressible(case: Case) -> tuple[Remedy, ...]:
    """Return what helps where no id list reads as the trained taps.

    Builds concatenate in ascending depth, each depth once. Taps trained in another order, or twice, can be had by
    permuting or adding column blocks of `fc`, exactly; depths that the class never delivers need another engine.
    """
    trained, facts = case.trained.taps or (), case.target_facts
    depths = depths_of(trained)
    plain = depths == tuple(sorted(set(depths)))
    if facts is None or plain or not _reachable(case):
        return (Remedy.ENGINE,)
    return (Remedy.CONVERT, Remedy.ENGINE)


def is_inexpressible(case: Case) -> bool:
    """Tell whether it is established that no id list of this build and class reads as the trained taps.

    Where class, layer count or runner are unknown, or the class is not served at all, other rules say so.
    """
    facts, reading, profile = case.target_facts, case.reading, case.profile
    if facts is None or reading is None or profile is None or reading.expressible is not False:
        return False
    established = dialects.UNRESOLVED not in (facts.dialect, facts.captures)
    served = facts.supported and facts.captures == "listed"
    placed = case.target is not None and case.target.layers is not None
    has_runner = any(runner.name == reading.runner for runner in profile.runners)
    return bool(case.trained.taps) and established and served and placed and has_runner


def other_streams(trained: Taps, effective: Iterable[Tap]) -> bool:
    """Tell whether a captured state is of a stream or norm that no trained tap has: no id can mend that."""
    wanted = {(tap.stream, tap.norm) for tap in trained}
    return bool(wanted) and any((tap.stream, tap.norm) not in wanted for tap in effective)


def counts_taps(case: Case) -> bool:
    """Tell whether the config can tell this build's draft class how many taps there are."""
    architecture = case.reading.draft.architecture if case.reading and case.reading.draft else None
    facts = case.profile.draft(architecture) if case.profile and architecture else None
    return facts is not None and bool(facts.tap_count)


def can_switch_off(case: Case) -> bool:
    """Tell whether a runner of this build lets the config turn capturing off."""
    return case.profile is not None and any(runner.capture_off for runner in case.profile.runners)


def _reachable(case: Case) -> bool:
    """Tell whether the class delivers every trained depth, whatever the order."""
    facts, layers = case.target_facts, case.target.layers if case.target else None
    depths = set(depths_of(case.trained.taps or ()))
    if facts is None or layers is None:
        return False
    if facts.dialect == dialects.FIXED_DEFAULT:
        return depths == set(dialects.default_depths(facts.default, layers=layers) or ())
    zero = 0 in depths and facts.depth_zero != "captured"
    last = layers in depths and facts.depth_n != "captured"
    return not zero and not last and all(0 <= depth <= layers for depth in depths)
