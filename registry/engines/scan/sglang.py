"""SGLang: from the text of a release or a fork to its profile document."""

from dataclasses import dataclass
from typing import Any, Final

from registry.domain.profile import Graphs, IdKey, Runner
from registry.engines.scan import curated
from registry.engines.scan.block_drafters import scan_block_setters
from registry.engines.scan.capture_runs import Captures
from registry.engines.scan.classes import Index
from registry.engines.scan.config_readers import ConfigReader, scan_config_reader
from registry.engines.scan.drafts import ScannedDraft, scan_drafts
from registry.engines.scan.graphs import GraphOrder, methods_called_on_targets, scan_graphs
from registry.engines.scan.hidden_modes import scan_hidden_modes
from registry.engines.scan.launch_options import eager_option, scan_launch, scan_options
from registry.engines.scan.limits import Unfollowed
from registry.engines.scan.plugins import scan_plugins
from registry.engines.scan.rendering import rendered
from registry.engines.scan.sources import Sources
from registry.engines.scan.targets import ScannedTarget, scan_targets

SCHEMA: Final = "roost.engine-profile/1"


class NotSglang(ValueError):
    """The sources hold no SGLang; the message says what was looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """One fact that the scan could not establish."""

    about: str
    """What it is about: a class, `runner`, `graphs`, or a file."""
    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.about}: {self.file}:{self.line}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanResult:
    """A scanned build."""

    document: dict[str, Any]
    """The profile document; its `evidence` says where each fact was found, and how."""
    unresolved: tuple[Unresolved, ...] = ()
    notes: tuple[str, ...] = ()


def scan_sglang(sources: Sources, *, version: str) -> ScanResult:
    """Return the profile of the build in `sources`.

    Nothing of the build is imported or run. Facts that the scan cannot establish are unresolved in the profile, and
    listed with file and line.

    Args:
        sources: The build's files, with paths from the folder that holds the package, as `sglang/srt/...`.
        version: What the profile calls the build.

    Raises:
        NotSglang: there are no model files.
    """
    index = Index(sources)
    if not any(path.startswith("sglang/srt/models/") for path in index.paths):
        raise NotSglang(
            "no file lies under sglang/srt/models/: give the folder or archive that holds the sglang package"
        )
    captures = Captures(index)
    targets, without = scan_targets(captures, called=methods_called_on_targets(index))
    drafts = list(scan_drafts(index))
    reader, order = scan_config_reader(index), scan_graphs(index)
    launch, warmup = scan_launch(index)
    document = {
        "schema": SCHEMA,
        "engine": "sglang",
        "version": version,
        "revision": 1,
        "targets": {entry.facts.target_class: _target(entry) for entry in targets},
        "runners": [rendered(_runner(reader))],
        "graphs": rendered(_graphs(index, order)),
        "drafts": [rendered(draft.facts) for draft in drafts],
        "launch": rendered(launch),
        "evidence": _evidence(index, captures, targets, drafts, reader, order)
        | {"startup_pass_at": warmup, "targets_without_setter": without},
    }
    unresolved = tuple(_unresolved(index, targets, drafts, reader, order))
    document["evidence"]["unresolved"] = [str(entry) for entry in unresolved]
    return ScanResult(document=document, unresolved=unresolved, notes=tuple(_notes(targets)))


def _target(entry: ScannedTarget) -> dict[str, Any]:
    facts: dict[str, Any] = rendered(entry.facts, without=frozenset({"target_class"}))
    return facts


def _runner(reader: ConfigReader) -> Runner:
    return Runner(
        keys=tuple(IdKey(pointer=pointer) for pointer in reader.pointers),
        capture_off=reader.capture_off,
        empty_ids="nothing" if reader.empty_ids == "nothing" else "default",
        at=reader.at,
    )


def _graphs(index: Index, order: GraphOrder) -> Graphs:
    """Return whether ids hold; where that is not established, they are taken not to: a verdict then fails closed."""
    option, _ = eager_option(index)
    return Graphs(ids_hold=bool(order.ids_hold), disable_option=option, cost=curated.GRAPH_COST, at=order.at)


def _evidence(
    index: Index,
    captures: Captures,
    targets: list[ScannedTarget],
    drafts: list[ScannedDraft],
    reader: ConfigReader,
    order: GraphOrder,
) -> dict[str, Any]:
    return {
        "targets": {entry.facts.target_class: entry.document() for entry in targets},
        "drafts": {draft.facts.architectures[0]: draft.document() for draft in drafts},
        "malformed_configs": list(reader.malformed),
        "graphs": {"ids_at": order.at, "default_at": order.default_at, "established": _how(order)},
        "disable_option_at": eager_option(index)[1],
        "launch_options": scan_options(index),
        "launch_constraints": [dict(entry) for entry in curated.CONSTRAINTS],
        "embedding": dict(curated.EMBEDDING),
        "plugins": list(scan_plugins(index)),
        "hidden_modes": scan_hidden_modes(index),
        "block_setters": scan_block_setters(captures),
    }


def _how(order: GraphOrder) -> str:
    return "read" if order.ids_hold is not None else "unresolved"


def _unresolved(
    index: Index, targets: list[ScannedTarget], drafts: list[ScannedDraft], reader: ConfigReader, order: GraphOrder
) -> list[Unresolved]:
    problems: list[tuple[str, Unfollowed | None]] = [
        *((entry.facts.target_class, entry.problem) for entry in targets),
        *((draft.facts.architectures[0], draft.problem) for draft in drafts),
        ("runner", reader.problem),
        ("graphs", order.problem),
        *((path, reason) for path, reason in sorted(index.unparsed.items()) if path.startswith("sglang/")),
    ]
    return [
        Unresolved(about=about, file=reason.file, line=reason.line, what=reason.what)
        for about, reason in problems
        if reason is not None
    ]


def _notes(targets: list[ScannedTarget]) -> list[str]:
    return [
        f"{entry.facts.target_class}: {len(entry.assumed)} conditions of its code were taken as false"
        for entry in targets
        if entry.assumed and entry.problem is None and not entry.ascending
    ]
