"""`roost register`: reads a drafter directory, sends what the registry lacks, and asks it to register the whole."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roost import option_values, provenance_file
from roost.client import Client, in_path
from roost.failures import Refused
from roost.inputs import fault_lines, unreadable
from roost.problems import ProblemFailure, finding_lines
from roost.progress import Bar, size
from roost.provenance_file import ProvenanceFile
from roost.render_verdict import spell
from roost.screen import Paint, Screen, takes_format
from roost.tables import facts, table
from roost.uploads import Upload, send

if TYPE_CHECKING:
    from registry.domain.artifact_faults import ArtifactFault
    from registry.domain.tensors import Inventory

_NOT_FOUND = 404

_PATIENCE = 3600.0
"""Seconds: the registry reads every byte again before it answers."""


@click.command(name="register")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", required=True, callback=option_values.name, help="The drafter's name; it may hold slashes.")
@click.option(
    "--provenance",
    "provenance_path",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="How it was trained; `roost provenance init DIR` writes one.",
)
@takes_format
def command(directory: Path, name: str, provenance_path: Path, *, screen: Screen) -> None:
    """Register a drafter directory with its provenance.

    Prints NAME@N and the digests. The same weights with the same facts give the version that has them. Only config,
    safetensors, index, tokenizer and template files are taken.
    """
    provenance = provenance_file.read(provenance_path)
    client = Client.from_environment(timeout=_PATIENCE)
    _inspected(directory, provenance, screen, hash_contents=False)
    _require_target(client, provenance.document["target"])
    inventory = _inspected(directory, provenance, screen, hash_contents=True)
    uploads = [
        Upload(name=file.name, path=directory / file.name, size=file.size, sha256=file.sha256)
        for file in inventory.files
    ]
    send(client, [*uploads, *provenance.sources], screen=screen)
    registration: dict[str, object] = {
        "schema": "roost.registration/1",
        "name": name,
        "provenance": provenance.document,
        "files": [upload.entry for upload in uploads],
        "sources": [source.entry for source in provenance.sources],
    }
    answer = client.post("/v1/checkpoints", registration)
    document = answer.json()
    for warning in document.get("warnings") or ():
        screen.warn(warning)
    if inventory.ignored:
        screen.note(f"not taken: {', '.join(inventory.ignored)}")
    screen.result(answer.body, render(document, paint=screen.paint))


def _require_target(client: Client, target: Mapping[str, Any]) -> None:
    """Ask for the target before anything large is read or sent: without it all of that would be for nothing.

    Raises:
        Refused: it is not registered.
    """
    name, revision = target["name"], target.get("revision")
    try:
        client.get(f"/v1/targets/{in_path(name)}", revision=revision)
    except ProblemFailure as failure:
        if failure.problem.get("status") != _NOT_FOUND:
            raise
        at = f" at revision {revision}" if revision else ""
        option = f" --revision {revision}" if revision else ""
        raise Refused(
            f"the target {name}{at} is not registered",
            hint=f"register it first: `roost target add {name} --config config.json{option}`.",
            document={**failure.problem, "status": 422, "type": "urn:roost:problem:refused"},
        ) from None


def _inspected(directory: Path, provenance: ProvenanceFile, screen: Screen, *, hash_contents: bool) -> "Inventory":
    """Read the directory, or refuse it with the findings that the registry would give.

    Headers alone are read first, in an instant: a file that is not what it claims is refused before anybody waits.
    """
    from registry.artifacts.directory import inspect  # noqa: PLC0415 - only after the cheap refusals

    try:
        with Bar("reading", screen=screen) as bar:
            found = inspect(directory, progress=bar.at, hash_contents=hash_contents)
    except OSError as error:
        raise unreadable(directory, error) from None
    if found.inventory is None:
        raise _refused(directory, provenance, found.faults)
    return found.inventory


def _refused(directory: Path, provenance: ProvenanceFile, faults: "tuple[ArtifactFault, ...]") -> Refused:
    from registry.documents import provenance as provenances  # noqa: PLC0415 - only to word a refusal
    from registry.documents.verdict import render_findings  # noqa: PLC0415 - as above
    from registry.domain.tensors import Inventory  # noqa: PLC0415 - as above
    from registry.services.cases import Subject  # noqa: PLC0415 - as above
    from registry.services.judging import judge_registration  # noqa: PLC0415 - as above
    from registry.services.profiles import ShippedProfiles  # noqa: PLC0415 - as above

    subject = Subject(
        ref=directory.name,
        inventory=Inventory(files=()),
        provenance=provenances.parse(provenance.document),
        trained_target=None,
    )
    judged = judge_registration(subject, profiles=ShippedProfiles(), faults=faults)
    findings = render_findings([finding for finding in judged if finding.severity == "error"])
    codes = {str(finding["code"]): None for finding in findings}
    message = f"{directory} is not registered: a file is not what it claims"
    document = {
        "type": "urn:roost:problem:refused",
        "title": "The request is understood and not allowed",
        "status": 422,
        "detail": f"A file is not what it claims: {'; '.join(fault_lines(faults))}.",
        "findings": findings,
    }
    hint = f"`roost rule {next(iter(codes))}` explains it." if codes else ""
    return Refused(message, details=list(finding_lines(findings)) or fault_lines(faults), hint=hint, document=document)


def render(document: Mapping[str, Any], *, paint: Paint) -> str:
    """Put the answer to a registration into words. Pure."""
    ref = paint(document["ref"], "bold")
    head = f"registered {ref}" if document.get("created", True) else f"{ref} has these weights and facts already"
    taps = document.get("trained_taps")
    known = f"{spell(taps)}  (depths)" if taps is not None else f"unknown: {document.get('why_unknown')}"
    pairs = [("weights", document["weights_digest"]), ("taps", known), ("tensors", document.get("tensors"))]
    linked = ", ".join(document.get("linked") or ())
    rows = [[f"  {file['name']}", size(file["size"]), file["sha256"]] for file in document["files"]]
    files = table(["  file", "size", "sha256"], rows, paint=Paint())
    return f"{head}\n{facts([*pairs, ('same as', linked)])}\n{files}"
