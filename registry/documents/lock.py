"""`roost.lock/1`: what one emission was made from and what it consists of, to be checked again with no network."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from registry.documents import fields, proposal, provenance, target, verdict
from registry.documents.canonical import canonical_bytes
from registry.documents.faults import DocumentError, Fault, moved
from registry.documents.fields import Fields, FileEntry
from registry.documents.proposal import ProposalDocument
from registry.documents.target import TargetDocument
from registry.documents.validation import validated
from registry.domain.digests import Digest
from registry.domain.findings import Finding
from registry.domain.proposal import Build, parse_build
from registry.domain.provenance import Provenance
from registry.domain.reading import PhaseTaps
from registry.domain.refs import Ref, parse_ref
from registry.domain.taps import Taps

SCHEMA: Final = "roost.lock/1"
FILE_NAME: Final = "roost.lock.json"
_CHANGED: Final = "the lock was changed after it was written"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionCost:
    """A launch option that a build needs to pass, and what it costs."""

    option: str
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """One rewriting of the weights for a build."""

    what: str
    before: Digest
    after: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """Everything one emission was made from."""

    checkpoint: Ref
    """With its version."""
    weights_digest: Digest
    provenance_revision: int
    provenance: Provenance
    target: TargetDocument
    """The target it runs on."""
    trained_target: TargetDocument | None = None
    """The target it was trained for, where that is another one."""
    build: Build
    runner: str | None
    profile: str
    """The profile's citation."""
    profile_digest: Digest
    proposal: ProposalDocument
    proposal_digest: Digest
    """`proposal.digest(proposal)`; a document where they disagree is refused."""
    trained_taps: Taps
    effective_taps: PhaseTaps
    findings: tuple[Finding, ...]
    decision: Literal["pass", "warn"]
    rules: str
    launch: tuple[str, ...]
    """The launch options that were written, in order."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that were written beside them; mostly none."""
    option_costs: tuple[OptionCost, ...] = ()
    files: tuple[FileEntry, ...]
    """Every file of the emission but the lock itself."""
    conversions: tuple[Conversion, ...] = ()


def parse(data: bytes | Mapping[str, object]) -> Lock:
    """Return the lock in `data`.

    Raises:
        DocumentError: with every fault; also where the proposal is not the one its digest names, engines disagree,
            or a file is listed twice.
    """
    return _from_fields(validated("lock", data, further=_further_faults))


def lock_bytes(lock: Lock) -> bytes:
    """Return the canonical bytes of `lock`: what is written, and what is signed."""
    return canonical_bytes(render(lock))


def parse_bytes(data: bytes) -> Lock:
    """Return the lock in `data`, which must be its canonical bytes: those are what was written, and what is signed.

    Raises:
        DocumentError: as for `parse`, and where the bytes are others.
    """
    lock = parse(data)
    if lock_bytes(lock) != data:
        fault = Fault(pointer="", message="these are not the bytes that a registry writes for this lock", hint=_CHANGED)
        raise DocumentError("lock", [fault])
    return lock


def render(lock: Lock) -> dict[str, object]:
    """Return the document of `lock`: every key is always there, but `trained_target` and `environment` where empty."""
    trained = lock.trained_target
    environment = {"environment": dict(lock.environment)} if lock.environment else {}
    other = {} if trained is None else {"trained_target": target.render(trained.target, trained.config)}
    return {
        "schema": SCHEMA,
        "checkpoint": str(lock.checkpoint),
        "weights_digest": lock.weights_digest,
        "provenance": {"revision": lock.provenance_revision, "document": provenance.render(lock.provenance)},
        "target": target.render(lock.target.target, lock.target.config),
        **other,
        "engine": str(lock.build),
        "runner": lock.runner,
        "profile": lock.profile,
        "profile_digest": lock.profile_digest,
        "proposal": proposal.render(lock.proposal),
        "proposal_digest": lock.proposal_digest,
        "trained_taps": fields.render_taps(lock.trained_taps),
        "effective_taps": fields.render_phases(lock.effective_taps),
        "findings": verdict.render_findings(lock.findings),
        "decision": lock.decision,
        "rules": lock.rules,
        "launch": list(lock.launch),
        **environment,
        "option_costs": [{"option": entry.option, "cost": entry.cost} for entry in lock.option_costs],
        "files": [fields.render_file(entry) for entry in lock.files],
        "conversions": [
            {"what": entry.what, "before": entry.before, "after": entry.after} for entry in lock.conversions
        ],
    }


def launch_line(options: Iterable[str], environment: Mapping[str, str]) -> str:
    """Return options and environment as one line in POSIX shell quoting, as a proposal's launch states them."""
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in environment.items()), shlex.join(options)])


def _from_fields(document: Fields) -> Lock:
    record = fields.part(document, "provenance")
    return Lock(
        checkpoint=parse_ref(fields.text(document, "checkpoint")),
        weights_digest=fields.digest(document, "weights_digest"),
        provenance_revision=fields.whole(record, "revision"),
        provenance=provenance.from_fields(fields.part(record, "document")),
        target=target.from_fields(fields.part(document, "target")),
        trained_target=target.from_fields(fields.part(document, "trained_target"))
        if "trained_target" in document
        else None,
        build=parse_build(fields.text(document, "engine")),
        runner=fields.maybe_text(document, "runner"),
        profile=fields.text(document, "profile"),
        profile_digest=fields.digest(document, "profile_digest"),
        proposal=proposal.from_fields(fields.part(document, "proposal")),
        proposal_digest=fields.digest(document, "proposal_digest"),
        trained_taps=fields.maybe_taps(document, "trained_taps") or (),
        effective_taps=fields.maybe_phases(document, "effective_taps") or PhaseTaps(prefill=(), decode=()),
        findings=verdict.findings_at(document, "findings"),
        decision=cast("Literal['pass', 'warn']", fields.text(document, "decision")),
        rules=fields.text(document, "rules"),
        launch=fields.texts(document, "launch"),
        environment=fields.text_values(document, "environment"),
        option_costs=tuple(map(_option_cost, fields.parts(document, "option_costs"))),
        files=fields.files(document, "files"),
        conversions=tuple(map(_conversion, fields.parts(document, "conversions"))),
    )


def _option_cost(entry: Fields) -> OptionCost:
    return OptionCost(option=fields.text(entry, "option"), cost=fields.text(entry, "cost"))


def _conversion(entry: Fields) -> Conversion:
    return Conversion(
        what=fields.text(entry, "what"),
        before=fields.digest(entry, "before"),
        after=fields.digest(entry, "after"),
    )


def _further_faults(document: Fields) -> Iterator[Fault]:
    """Yield what the schema cannot say: parts of the lock that contradict each other."""
    record = fields.part(fields.part(document, "provenance"), "document")
    yield from moved(provenance.further_faults(record), "/provenance/document")
    proposed = proposal.from_fields(fields.part(document, "proposal"))
    computed = proposal.digest(proposed)
    if computed != document["proposal_digest"]:
        message = f"the proposal in this lock has the digest {computed}"
        yield Fault(pointer="/proposal_digest", message=message, hint=_CHANGED)
    if proposed.build != parse_build(fields.text(document, "engine")):
        message = f"the lock is for {document['engine']}, its proposal for {proposed.build}"
        yield Fault(pointer="/proposal/engine", message=message)
    phases = fields.part(document, "effective_taps")
    for phase in sorted(phases):
        if phases[phase] != document["trained_taps"]:
            message = "these are not the trained taps, and nothing else is ever emitted"
            yield Fault(pointer=f"/effective_taps/{phase}", message=message, hint=_CHANGED)
    if proposed.launch_text != launch_line(
        fields.texts(document, "launch"), fields.text_values(document, "environment")
    ):
        message = f"the proposal in this lock was judged with {proposed.launch_text!r}"
        yield Fault(pointer="/launch", message=message, hint=_CHANGED)
    yield from repeated_names(document, "files")


def repeated_names(document: Fields, key: str) -> Iterator[Fault]:
    """Yield a fault for each file at `key` whose name was listed before, or needs a file to be a folder."""
    entries = fields.files(document, key)
    names = {entry.name for entry in entries}
    seen: set[str] = set()
    for place, entry in enumerate(entries):
        if entry.name in seen:
            yield Fault(pointer=f"/{key}/{place}/name", message=f"the file {entry.name!r} is listed twice")
        seen.add(entry.name)
        folder = next((folder for folder in folders_of(entry.name) if folder in names), None)
        if folder is not None:
            message = f"the file {entry.name!r} lies in {folder!r}, which is listed as a file"
            yield Fault(pointer=f"/{key}/{place}/name", message=message)


def folders_of(name: str) -> Iterator[str]:
    """Yield every folder that a file of that relative name lies in, the outermost first."""
    parts = name.split("/")
    yield from ("/".join(parts[:count]) for count in range(1, len(parts)))
