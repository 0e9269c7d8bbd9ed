"""A case: everything the rules may look at. Rules see nothing else, and never an engine."""

from dataclasses import dataclass

from registry.domain.artifact_faults import ArtifactFault
from registry.domain.digests import Digest
from registry.domain.profile import Profile, TargetFacts
from registry.domain.proposal import Proposal
from registry.domain.provenance import Provenance, TrainedTaps
from registry.domain.reading import Reading
from registry.domain.target import Target
from registry.domain.tensors import Inventory
from registry.domain.versions import Version


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageEntry:
    """What one shipped build of the proposal's engine does with the proposal's target class."""

    version: str
    facts: TargetFacts | None
    """None: the build does not have the class."""
    ids_hold_in_graphs: bool

    @property
    def supported(self) -> bool:
        """Whether the build serves EAGLE-3 on the class."""
        return self.facts is not None and self.facts.supported


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The shipped upstream builds of one engine, oldest first, as they treat one target class."""

    entries: tuple[LineageEntry, ...] = ()
    nearest: tuple[str, ...] = ()
    """For a build that is not listed: the versions just below and above it."""

    def first_supported(self) -> str | None:
        """First listed release that serves EAGLE-3 on the class."""
        return next((entry.version for entry in self.entries if entry.supported), None)

    def first_ids_in_graphs(self) -> str | None:
        """First listed release that serves the class and also keeps configured ids in decode graphs."""
        return next((e.version for e in self.entries if e.supported and e.ids_hold_in_graphs), None)

    def dialect_since(self, version: str) -> str | None:
        """First listed release, up to `version`, from which on the class kept the dialect it has at `version`."""
        wanted = Version.parse(version)
        past = [e for e in self.entries if e.facts is not None and Version.parse(e.version) <= wanted]
        since = None
        for entry in reversed(past):
            if entry.facts is None or past[-1].facts is None or entry.facts.dialect != past[-1].facts.dialect:
                break
            since = entry.version
        return since


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """The same weights registered under another drafter's name."""

    ref: str
    """NAME@N."""
    facts_differ: tuple[str, ...] = ()
    """JSON Pointers into provenance where the two records differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One proposal with everything known about it. A part that is None is absent, which is not the same as unknown."""

    ref: str
    """NAME@N of the checkpoint."""
    weights_digest: Digest | None = None
    inventory: Inventory
    provenance: Provenance
    trained: TrainedTaps
    trained_target: Target | None = None
    """The registered target that provenance names."""
    target: Target | None = None
    """The target it will run on."""
    proposal: Proposal | None = None
    """None at registration."""
    config: dict[str, object]
    """The draft config in force: proposed, else as stored with the checkpoint."""
    profile: Profile | None = None
    target_facts: TargetFacts | None = None
    reading: Reading | None = None
    lineage: Lineage = Lineage()
    twins: tuple[Twin, ...] = ()
    faults: tuple[ArtifactFault, ...] = ()
