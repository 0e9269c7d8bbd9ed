"""A case: everything the rules may look at. Rules see nothing else, and never an engine."""

from collections.abc import Mapping
from dataclasses import dataclass

from registry.domain.artifact_faults import ArtifactFault
from registry.domain.differences import differences
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
        """Whether the build serves EAGLE-3 on the class, and captures what it is told."""
        return self.facts is not None and self.facts.supported and self.facts.captures == "listed"


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
    left_out: tuple[str, ...] = ()
    """Of those, the ones where one of the two records says nothing."""
    provenance: Provenance | None = None
    """The other record."""
    trained: TrainedTaps | None = None
    """The taps that follow from the other record; None where nobody worked them out."""

    @classmethod
    def compared(
        cls, ref: str, ours: Mapping[str, object], theirs: Mapping[str, object], *, provenance: Provenance
    ) -> "Twin":
        """Return the twin `ref` with the places where its document differs from ours.

        Args:
            ref: NAME@N of the twin.
            ours: The provenance document it is compared with.
            theirs: Its own.
            provenance: Its own, parsed.
        """
        found = differences(ours, theirs)
        one_sided = tuple(one.pointer for one in found if one.registered is None or one.given is None)
        pointers = tuple(one.pointer for one in found)
        return cls(ref=ref, facts_differ=pointers, left_out=one_sided, provenance=provenance)


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
