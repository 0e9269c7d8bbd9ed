"""How rules of family ART turn the faults of files into findings: one rule per kind of fault, all refused."""

from collections.abc import Iterator, Mapping

from registry.domain.artifact_faults import ArtifactFault, FaultKind
from registry.domain.case import Case
from registry.domain.findings import Evidence, Finding, Remedy, Severity
from registry.rules.evidence import MEASURED


def findings_of(case: Case, code: str, advice: Mapping[FaultKind, str]) -> Iterator[Finding]:
    """Yield one finding per fault of the kinds in `advice`, which says what to do about each."""
    for fault in case.faults:
        if fault.kind in advice:
            yield Finding(
                code=code,
                severity=Severity.ERROR,
                message=f"{_place(fault)}: {fault.observed}, expected {fault.expected}; {advice[fault.kind]}",
                at=file_pointer(fault.file),
                remedies=(Remedy.REJECT,),
                evidence=(Evidence(fact="what was found", value=fault.observed, source=fault.file, grade=MEASURED),),
            )


def file_pointer(name: str) -> str:
    """Return the place of a file in a registration, as a JSON Pointer; without a name, of all of them."""
    return "/files" if not name else "/files/" + name.replace("~", "~0").replace("/", "~1")


def _place(fault: ArtifactFault) -> str:
    name = fault.file or "the directory"
    return f"{name} ({fault.where})" if fault.where else name
