import json
from dataclasses import replace

import pytest
from fakes.founding import founding_tool

from registry.documents import emission as emission_documents
from registry.documents.lock import FILE_NAME
from registry.documents.requests import parse_emission_request
from registry.domain.errors import NotFound, Refused
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


@pytest.mark.parametrize("folder", ["roost.lock.json", "launch.args"])
async def test_a_shard_that_lies_where_a_written_file_belongs_is_refused(registry, case, folder):
    shard = f"{folder}/model.safetensors"
    index = {"weight_map": dict.fromkeys(founding_tool().drafter_tensors(founding_tool().Shape()), shard)}
    files = {
        "config.json": case.files["config.json"],
        shard: case.files["model.safetensors"],
        "model.safetensors.index.json": json.dumps(index).encode(),
    }
    made = replace(case, files=files)
    registry.upload(made)
    await registry.register(made.body("kimi"))
    with pytest.raises(Refused, match=folder):
        await emitted(registry, "sglang==1.0")


async def test_no_code_is_emitted_from_any_depth_of_a_config(registry, case):
    nested = {"auto_map": {"AutoModel": "modeling.Draft"}, "kept": [{"auto_map": None, "a": 1}]}
    made = case.with_file(
        "config.json", json.dumps({**json.loads(case.files["config.json"]), "inner": nested}).encode()
    )
    registry.upload(made)
    await registry.register(made.body("kimi"))
    record = await emitted(registry, "sglang==1.0")
    written = next(file for file in record.files if file.name == "config.json")
    assert json.loads(registry.blobs.path(written.sha256).read_bytes())["inner"] == {"kept": [{"a": 1}]}
