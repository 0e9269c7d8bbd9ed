"""Evidence: the facts behind findings, each with where it came from and how well it is established."""

from registry.domain.case import Case
from registry.domain.findings import Evidence
from registry.domain.taps import Taps
from registry.domain.tensors import Tensor

MEASURED = "measured"
"""The grade of what was read from the files."""


def trained(case: Case) -> Evidence:
    """The trained taps, as depths, and the steps they came from."""
    recipe = case.provenance.standardization.name
    return Evidence(
        fact="trained taps",
        value=None if case.trained.taps is None else written(case.trained.taps) or "none",
        source=f"provenance /capture/layers by {recipe}",
        grade=str(case.provenance.grade("/capture/layers")),
    )


def recorded(case: Case, pointer: str, value: object) -> Evidence:
    """A fact of the provenance record, by its JSON Pointer."""
    return Evidence(fact=pointer, value=value, source="provenance", grade=str(case.provenance.grade(pointer)))


def effective(case: Case, phase: str, taps: Taps) -> Evidence:
    """What the build really captures in one phase."""
    return Evidence(
        fact=f"effective taps in {phase}", value=written(taps) or "none", source=_build(case), grade=_established(case)
    )


def of_class(case: Case, fact: str, value: object) -> Evidence:
    """A fact about the target class in this build."""
    return Evidence(fact=fact, value=value, source=_build(case), grade=_established(case))


def of_build(case: Case, fact: str, value: object, *, at: str = "") -> Evidence:
    """A fact about the build, read in its source at `at`."""
    citation = case.profile.citation if case.profile else "profile"
    return Evidence(fact=fact, value=value, source=f"{citation} {at}".rstrip(), grade="read")


def configured(case: Case, key: str, value: object) -> Evidence:
    """A value of the draft config in force."""
    proposed = case.proposal is not None and case.proposal.draft_config is not None
    is_null = value is None and key.startswith("/") and key[1:] in case.config
    return Evidence(
        fact=key,
        value="null" if is_null else value,
        source="proposed draft config" if proposed else "stored config.json",
        grade="declared",
    )


def shape(tensor: Tensor) -> Evidence:
    """A stored tensor's shape."""
    return Evidence(
        fact=f"shape of {tensor.name}", value=list(tensor.shape), source=tensor.file or "weights", grade=MEASURED
    )


def of_target(name: str, fact: str, value: object) -> Evidence:
    """A fact of a registered target."""
    return Evidence(fact=fact, value=value, source=f"target {name}", grade="declared")


def stored(fact: str, value: object, *, source: str = "weights") -> Evidence:
    """A fact read from the drafter's files."""
    return Evidence(fact=fact, value=value, source=source, grade=MEASURED)


def launched(fact: str, value: object) -> Evidence:
    """A fact read from the launch line."""
    return Evidence(fact=fact, value=value, source="launch line", grade="declared")


def written(taps: Taps) -> list[object]:
    """Return taps as JSON holds them in evidence: depths, and more only where it is not the usual."""
    return [
        tap.depth
        if tap.stream == "residual" and tap.norm == "none"
        else {"depth": tap.depth, "stream": tap.stream, "norm": tap.norm}
        for tap in taps
    ]


def _build(case: Case) -> str:
    citation = case.profile.citation if case.profile else "profile"
    return f"{citation} {case.target_facts.at}".rstrip() if case.target_facts else citation


def _established(case: Case) -> str:
    return case.target_facts.established if case.target_facts else "read"
