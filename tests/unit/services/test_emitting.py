import json

import pytest

from registry.documents import emission as emission_documents
from registry.documents.lock import FILE_NAME
from registry.documents.requests import parse_emission_request
from registry.domain.errors import NotFound
from registry.services.emitting import emit
from registry.services.refusals import EmissionRefused


async def emitted(registry, engine, *, checkpoint="kimi"):
    body = {"schema": "roost.emission-request/1", "checkpoint": checkpoint, "engine": engine}
    return await emit(
        document=parse_emission_request(body),
        records=registry.records,
        blobs=registry.blobs,
        profiles=registry.profiles,
        actor="ada",
    )


async def test_every_file_of_an_emission_is_a_blob_and_the_lock_names_it(registry, case):
    await registry.register(case.body("kimi"))
    record = await emitted(registry, "sglang==1.0")
    files = {file.name: registry.blobs.path(file.sha256).read_bytes() for file in record.files}
    assert {name: len(data) for name, data in files.items()} == {file.name: file.size for file in record.files}
    assert files["model.safetensors"] == case.files["model.safetensors"]
    lock = json.loads(files[FILE_NAME])
    assert {entry["name"]: entry["sha256"] for entry in lock["files"]} == {
        file.name: file.sha256 for file in record.files if file.name != FILE_NAME
    }
    assert record.id == next(file.sha256 for file in record.files if file.name == FILE_NAME)


async def test_the_document_says_what_was_written_and_what_was_carried(registry, case):
    await registry.register(case.body("kimi"))
    document = emission_documents.parse((await emitted(registry, "sglang==1.0")).document)
    sources = {file.name: file.source for file in document.files}
    assert sources["config.json"] is None
    assert sources["model.safetensors"] == "kimi@1"
    assert document.verdict.decision != "block"


async def test_the_same_request_is_the_same_emission(registry, case):
    await registry.register(case.body("kimi"))
    first, second = await emitted(registry, "sglang==1.0"), await emitted(registry, "sglang==1.0", checkpoint="kimi@1")
    assert (first.id, first.document) == (second.id, second.document)


async def test_a_build_that_cannot_serve_the_taps_is_refused_with_its_verdict(registry, case):
    await registry.register(case.body("kimi"))
    with pytest.raises(EmissionRefused) as caught:
        await emitted(registry, "sglang==2.0")
    assert caught.value.verdict.decision == "block"


async def test_a_build_that_is_not_known_is_refused_with_its_verdict(registry, case):
    await registry.register(case.body("kimi"))
    with pytest.raises(EmissionRefused) as caught:
        await emitted(registry, "sglang==9.9")
    assert caught.value.verdict.remedy == "unknown"


async def test_what_is_not_registered_is_not_found(registry):
    with pytest.raises(NotFound):
        await emitted(registry, "sglang==1.0")
