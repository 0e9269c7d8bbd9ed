"""An emitted directory against its lock: what was changed after it was written is seen, whatever was changed."""

import json
import os

import pytest

from registry.documents.canonical import canonical_bytes
from registry.documents.faults import DocumentError
from registry.documents.lock import FILE_NAME
from registry.documents.requests import parse_emission_request
from registry.domain.errors import NotFound
from registry.domain.proposal import parse_build
from registry.services.emitting import emit
from registry.services.preflight import MOST_LOCK_BYTES, preflight, verify_directory

BUILD = parse_build("sglang==1.0")


@pytest.fixture
async def emitted(registry, case, tmp_path):
    await registry.register(case.body("kimi"))
    body = {"schema": "roost.emission-request/1", "checkpoint": "kimi", "engine": str(BUILD)}
    record = await emit(
        document=parse_emission_request(body),
        records=registry.records,
        blobs=registry.blobs,
        profiles=registry.profiles,
        actor="ada",
    )
    directory = tmp_path / "emitted"
    directory.mkdir()
    for file in record.files:
        (directory / file.name).write_bytes(registry.blobs.path(file.sha256).read_bytes())
    return directory


def relock(directory, change):
    document = json.loads((directory / FILE_NAME).read_bytes())
    change(document)
    (directory / FILE_NAME).write_bytes(canonical_bytes(document))


def test_what_was_emitted_is_intact_and_may_be_launched(emitted, registry):
    assert verify_directory(emitted).intact
    assert preflight(emitted, BUILD, None, profiles=registry.profiles).may_launch


def test_the_same_lock_in_other_bytes_is_not_the_lock(emitted):
    document = json.loads((emitted / FILE_NAME).read_bytes())
    (emitted / FILE_NAME).write_text(json.dumps(document, indent=2))
    with pytest.raises(DocumentError, match="not the bytes"):
        verify_directory(emitted)


def test_taps_in_the_lock_that_its_provenance_does_not_give_are_seen(emitted, registry):
    def other_layers(document):
        document["provenance"]["document"]["capture"]["layers"] = [4, 31, 59]

    relock(emitted, other_layers)
    result = preflight(emitted, BUILD, None, profiles=registry.profiles)
    assert not result.may_launch
    (problem,) = result.verification.problems
    assert (problem.file, problem.expected, problem.observed) == (
        FILE_NAME, "taps 4, 31, 59, by the provenance in it", "taps 3, 31, 59",
    )  # fmt: skip


def test_launch_options_that_were_not_judged_are_seen(emitted):
    relock(emitted, lambda document: document["launch"].append("--disable-cuda-graph"))
    with pytest.raises(DocumentError, match="was judged with"):
        verify_directory(emitted)


def sparse(path):
    path.touch()
    os.truncate(path, MOST_LOCK_BYTES + 1)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "no plain file"),
        (lambda path: path.mkdir(), "directory"),
        (lambda path: path.symlink_to(os.devnull), "symbolic link"),
        (sparse, f"{MOST_LOCK_BYTES + 1} bytes"),
    ],
    ids=["fifo", "folder", "link", "huge"],
)
def test_a_lock_that_is_no_plain_small_file_is_not_waited_for_and_not_read(emitted, make, why):
    (emitted / FILE_NAME).unlink()
    make(emitted / FILE_NAME)
    with pytest.raises(NotFound, match=why):
        verify_directory(emitted)


@pytest.mark.parametrize("launch", ["--speculative-algorithm EAGLE", "--speculative-algo=NEXTN"])
def test_a_launch_of_another_algorithm_blocks(emitted, registry, launch):
    verdict = preflight(emitted, BUILD, launch, profiles=registry.profiles).verdict
    assert verdict.decision == "block"
    assert "captures no states" in next(found for found in verdict.findings if found.code == "TAP101").message
