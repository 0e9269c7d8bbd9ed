"""What the registry holds, for people who look around: histories and stored outcomes that must exist."""

import json
from dataclasses import replace

from registry.domain import digests
from registry.domain.errors import Invalid, NotFound
from registry.domain.proposal import parse_build
from registry.domain.refs import parse_name
from registry.services.ports import CheckpointStore, OutcomeStore
from registry.services.profiles import Profiles
from registry.services.records import (
    CheckpointRecord,
    EmissionRecord,
    EmittedFile,
    Event,
    ProvenanceRevision,
    VerdictRecord,
)
from registry.services.resolving import find_checkpoint


async def provenance_of(
    text: str, *, records: CheckpointStore
) -> tuple[CheckpointRecord, tuple[ProvenanceRevision, ...]]:
    """Return a checkpoint and every revision of its provenance, oldest first.

    Raises:
        Invalid, NotFound: as for `find_checkpoint`.
    """
    checkpoint = await find_checkpoint(text, records=records)
    return checkpoint, await records.revisions(checkpoint.name, checkpoint.version)


async def events_of(text: str, *, records: CheckpointStore) -> tuple[Event, ...]:
    """Return the events of a drafter, oldest first.

    Raises:
        Invalid: `text` is no name.
        NotFound: no drafter is called so.
    """
    name = parse_name(text)
    events = await records.events(name)
    if not events:
        raise NotFound(f"No drafter is called {name}.", hint="`roost list` shows all.")
    return events


async def stored_verdict(text: str, *, records: OutcomeStore, profiles: Profiles) -> VerdictRecord:
    """Return a stored verdict; it is stale as well where another profile of its build is in force than it cites.

    Args:
        text: its digest.
        records: where verdicts are.
        profiles: the profiles as they are now.

    Raises:
        Invalid: `text` is no digest.
        NotFound: no verdict is stored under it.
    """
    found = await records.verdict(_digest(text))
    if found is None:
        raise NotFound(f"There is no verdict {text}.", hint="POST /v1/verdicts stores one.")
    return replace(found, stale=found.stale or _cites_another(found.body, profiles))


def _cites_another(body: bytes, profiles: Profiles) -> bool:
    verdict = json.loads(body)
    profile = profiles.get(parse_build(verdict["engine"]))
    return bool(verdict["profile"] != (None if profile is None else profile.citation))


async def stored_emission(text: str, *, records: OutcomeStore) -> EmissionRecord:
    """Return a stored emission.

    Raises:
        Invalid: `text` is no digest.
        NotFound: no emission is stored under it.
    """
    found = await records.emission(_digest(text))
    if found is None:
        raise NotFound(f"There is no emission {text}.", hint="POST /v1/emissions makes one.")
    return found


def emitted_file(emission: EmissionRecord, name: str) -> EmittedFile:
    """Return one file of an emission.

    Raises:
        NotFound: the emission has no file of that name.
    """
    found = next((file for file in emission.files if file.name == name), None)
    if found is None:
        names = ", ".join(file.name for file in emission.files)
        raise NotFound(f"The emission has no file {name!r}.", hint=f"It has: {names}.")
    return found


def _digest(text: str) -> digests.Digest:
    try:
        return digests.parse(text)
    except ValueError as error:
        raise Invalid(str(error)) from error
