"""Target classes: which EAGLE-3 methods each has, and what its setter and its forward pass do with layer ids."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from registry.domain.dialects import UNRESOLVED
from registry.domain.profile import TargetFacts
from registry.engines.scan.capture_runs import SETTER, Captures, Ids, Setting, settled
from registry.engines.scan.classes import ClassInfo, Index
from registry.engines.scan.entry_classes import concerned, entry_classes, entry_names, is_draft_name, model_files
from registry.engines.scan.limits import Unfollowed
from registry.engines.scan.model_stub import ModelStub, mark_names
from registry.engines.scan.probes import LAYERS, PROBES, Outcome, fit, unresolved

METHODS: Final = (SETTER, "get_embed_and_head", "set_embed_and_head")
"""What EAGLE-3 may call on a target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedTarget:
    """One class with everything that was found."""

    facts: TargetFacts
    methods: dict[str, str]
    """Of each method, whether it is `own`, `inherited`, `delegated` or `missing`."""
    outcomes: tuple[Outcome, ...] = ()
    """What each probe did."""
    capture_at: str = ""
    """Where the forward pass is that captures: file and line."""
    entry: bool = False
    """Layers capture their own input, by the engine's code at the border between layers."""
    ascending: bool = True
    """States are collected in ascending order, each once."""
    assumed: tuple[str, ...] = ()
    """Conditions of the forward pass that are unknown without a running engine and were taken as false."""
    problem: Unfollowed | None = None

    def document(self) -> dict[str, Any]:
        """Return what goes beside the facts in the profile."""
        shown: dict[str, Any] = {"methods": dict(self.methods)}
        if self.capture_at:
            shown["capture_at"] = self.capture_at
        if self.problem is not None:
            shown["unresolved_because"] = str(self.problem)
        return shown


def scan_targets(captures: Captures, *, called: frozenset[str]) -> tuple[list[ScannedTarget], list[str]]:
    """Return the classes that have the setter or wrap one that has it, and the names of the other registered ones.

    Args:
        captures: The build, with what was run on it before.
        called: The methods that serving calls on a target.
    """
    index = captures.index
    files = model_files(index)
    with_setter = concerned(index, files, SETTER)
    found: dict[str, ScannedTarget] = {}
    for entry in entry_classes(index, with_setter):
        if not is_draft_name(entry.info.name) and index.method(entry.info, SETTER):
            found[entry.info.name] = scan_target(captures, entry.info, called=called)
    others = [path for path in files if path not in with_setter]
    for target in _wrappers(captures, (*with_setter, *others), frozenset(found), called=called):
        found.setdefault(target.facts.target_class, target)
    rest = {name for path in files for name in entry_names(index.text(path)) if not is_draft_name(name)}
    return [found[name] for name in sorted(found)], sorted(rest - set(found))


def _wrappers(
    captures: Captures, files: tuple[str, ...], known: frozenset[str], *, called: frozenset[str]
) -> Iterator[ScannedTarget]:
    """Yield classes without the setter that hold a model which has it, under the name `language_model`."""
    word = re.compile(rf"self\.language_model\s*=\s*(?:{'|'.join(sorted(map(re.escape, known)))})\(") if known else None
    for path in files:
        if word is None or not word.search(captures.index.text(path)):
            continue
        for entry in entry_classes(captures.index, (path,)):
            if not captures.index.method(entry.info, SETTER) and not is_draft_name(entry.info.name):
                yield from _wrapper(captures, entry.info, known, called=called)


def _wrapper(
    captures: Captures, info: ClassInfo, known: frozenset[str], *, called: frozenset[str]
) -> Iterator[ScannedTarget]:
    stub, _ = captures.set_ids(info, layers=LAYERS)
    try:
        inner = stub.evaluator.attribute(stub.model, "language_model")
    except Exception as error:
        if not isinstance(error, Unfollowed) and type(error).__name__ != "Raised":
            raise
        return
    held = getattr(inner, "cls", None)
    if held is None or held.name not in known:
        return
    missing = {name: state for name, state in _methods(captures.index, info).items() if state == "missing"}
    inside = scan_target(captures, held, called=called)
    facts = replace(
        inside.facts,
        target_class=info.name,
        missing_methods=tuple(missing),
        needed_methods=tuple(name for name in missing if name in called),
        delegates_to=held.name,
        at=info.at,
        probes=(),  # the table is the language model's
    )
    yield replace(inside, facts=facts, methods=_methods(captures.index, info), outcomes=())


def scan_target(captures: Captures, info: ClassInfo, *, called: frozenset[str]) -> ScannedTarget:
    """Return what one class that has the setter does with ids."""
    index = captures.index
    methods = _methods(index, info)
    owner = index.method(info, SETTER)
    facts = TargetFacts(
        target_class=info.name,
        missing_methods=tuple(name for name, state in methods.items() if state == "missing"),
        needed_methods=tuple(name for name, state in methods.items() if state == "missing" and name in called),
        dialect=UNRESOLVED,
        default=UNRESOLVED,
        at=f"{owner[0].path}:{owner[1].lineno}" if owner else info.at,
    )
    try:
        first = _probe(captures, info, *PROBES[0])
        alike = _alike(captures, info, first)
        if alike in captures.judged:
            return _same_as(captures.judged[alike], facts, methods)
        runs = [first, *(_probe(captures, info, ids, layers) for ids, layers in PROBES[1:])]
    except Unfollowed as reason:
        return ScannedTarget(facts=replace(unresolved(facts), established="read"), methods=methods, problem=reason)
    done = _judged(captures, info, facts, methods, runs)
    captures.judged[alike] = done
    return done


def _alike(captures: Captures, info: ClassInfo, first: "_Run") -> tuple[object, ...]:
    """Return what makes two classes the same here: setter, body, switches, and what a call without ids did."""
    owner = captures.index.method(info, SETTER)
    body = first.stub.body
    return (owner[0] if owner else info, body.cls if body else info, settled(first.stub.model), first.outcome)


def _same_as(done: ScannedTarget, facts: TargetFacts, methods: dict[str, str]) -> ScannedTarget:
    """Return what was found of another class with the same setter and body, under this one's name."""
    facts = replace(
        done.facts,
        target_class=facts.target_class,
        missing_methods=facts.missing_methods,
        needed_methods=facts.needed_methods,
        at=facts.at,
    )
    return replace(done, facts=facts, methods=methods)


_BRANCH: Final = (
    "the residual that is carried beside the hidden states is not added: what is captured is the last layer's own"
    " output (depth 0 is not affected)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    outcome: Outcome
    stub: ModelStub
    entry: bool
    ascending: bool
    assumed: tuple[tuple[str, int], ...]
    body: ClassInfo | None


def _probe(captures: Captures, info: ClassInfo, ids: Ids, layers: int) -> _Run:
    """Run one probe.

    Raises:
        Unfollowed: the setter or the forward pass is not followed.
    """
    stub, setting = captures.set_ids(info, ids, layers=layers)
    if setting.unfollowed is not None:
        raise setting.unfollowed
    if setting.raised:
        outcome = Outcome(ids=ids, layers=layers, listed=setting.listed, setter_raises=setting.raised)
        return _Run(outcome=outcome, stub=stub, entry=False, ascending=True, assumed=(), body=None)
    done = captures.run_pass(stub)
    if done.unfollowed is not None:
        raise done.unfollowed
    outcome = Outcome(
        ids=ids,
        layers=layers,
        listed=setting.listed,
        depths=None if done.raised else tuple(sorted(set(done.depths))),
        whole=frozenset(whole for depth, whole in zip(done.depths, done.whole, strict=True) if depth),
        pass_raises=done.raised,
    )
    return _Run(
        outcome=outcome,
        stub=stub,
        entry=bool(done.entry),
        ascending=list(done.depths) == sorted(set(done.depths)),
        assumed=done.assumed,
        body=done.body,
    )


def _judged(
    captures: Captures, info: ClassInfo, facts: TargetFacts, methods: dict[str, str], runs: list[_Run]
) -> ScannedTarget:
    outcomes = tuple(run.outcome for run in runs)
    facts = replace(
        facts,
        last_pipeline_rank_only=_last_rank_only(captures, info),
        accumulates=_accumulates(captures, info),
        delegates_to=_delegate(runs),
    )
    fitted, why = fit(facts, outcomes)
    if fitted.captures == "nothing":
        fitted = replace(fitted, accumulates=False)
    if fitted.stream == "branch":
        fitted = replace(fitted, note=_BRANCH)
    passed = next((run for run in runs if run.body is not None), None)
    body = passed.body if passed else None
    forward = captures.index.method(body, "forward") if body else None
    if fitted.captures == "nothing" and body is not None and _reads_marks(captures.index, body, runs):
        fitted, why = unresolved(fitted), "nothing is captured, although the forward pass reads what the setter leaves"
    problem = Unfollowed(*_place(facts.at), why) if why else None
    return ScannedTarget(
        facts=replace(
            fitted,
            established="read" if why else "evaluated",
            probes=tuple(outcome.probe() for outcome in outcomes),
        ),
        methods=methods,
        outcomes=outcomes,
        capture_at=f"{forward[0].path}:{forward[1].lineno}" if forward else "",
        entry=any(run.entry for run in runs),
        ascending=all(run.ascending for run in runs),
        assumed=tuple(sorted({f"{path}:{line}" for run in runs for path, line in run.assumed})),
        problem=problem,
    )


def _reads_marks(index: Index, body: ClassInfo, runs: list[_Run]) -> bool:
    """Tell whether a forward pass of the body names anything that the setter left on it or on its layers."""
    names = {name for run in runs for name in mark_names(run.stub.bodies)}
    passes = [(entry.path, entry.methods["forward"]) for entry in index.lineage(body) if "forward" in entry.methods]
    texts = ["\n".join(index.text(path).split("\n")[node.lineno - 1 : node.end_lineno]) for path, node in passes]
    return any(name in text for name in names for text in texts)


def _place(at: str) -> tuple[str, int]:
    file, _, line = at.rpartition(":")
    return file, int(line) if line.isdigit() else 0


def _last_rank_only(captures: Captures, info: ClassInfo) -> bool:
    """Tell whether the setter leaves nothing behind on another pipeline rank than the last."""
    _, setting = captures.set_ids(info, None, layers=LAYERS, last_rank=False)
    return not setting.marked and not setting.raised and setting.unfollowed is None


def _accumulates(captures: Captures, info: ClassInfo) -> bool:
    """Tell whether a call with ids leaves captured what an earlier call without ids asked for."""
    stub, setting = captures.set_ids(info, None, (4, 9, 20), layers=LAYERS)
    alone, once = captures.set_ids(info, (4, 9, 20), layers=LAYERS)
    if _failed(setting) or _failed(once):
        return False
    both, single = captures.run_pass(stub), captures.run_pass(alone)
    return not both.raised and both.unfollowed is None and set(both.depths) > set(single.depths)


def _failed(setting: Setting) -> bool:
    return bool(setting.raised) or setting.unfollowed is not None


def _delegate(runs: list[_Run]) -> str | None:
    """Return the class whose setter a wrapper's setter calls, where that is another model, not its own body."""
    for run in runs:
        bodies = {id(body) for body in run.stub.bodies}
        for function in run.stub.evaluator.calls_followed:
            holder = function.bound
            name = getattr(function.node, "name", "")
            if name == SETTER and holder is not run.stub.model and id(holder) not in bodies:
                held: ClassInfo | None = getattr(holder, "cls", None)
                return held.name if held else None
    return None


def _methods(index: Index, info: ClassInfo) -> dict[str, str]:
    return {name: _standing(index, info, name) for name in METHODS}


def _standing(index: Index, info: ClassInfo, name: str) -> str:
    found = index.method(info, name)
    if found is None:
        return "missing"
    owner, node = found
    calls = re.compile(rf"self\.(?:language_model|model|thinker|llm)\.{name}\b")
    lines = index.text(owner.path).split("\n")[node.lineno - 1 : node.end_lineno]
    if calls.search("\n".join(lines)):
        return "delegated"
    return "own" if owner == info else "inherited"
