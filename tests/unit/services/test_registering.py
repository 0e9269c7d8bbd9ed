import copy
import json

import pytest
from fakes.founding import entries, sha256

from registry.documents.faults import DocumentError
from registry.domain.differences import FactsDiffer
from registry.domain.errors import IntegrityMismatch, Refused
from registry.services.refusals import RegistrationRefused


def changed(document, pointer, value):
    made = copy.deepcopy(document)
    *path, last = pointer.strip("/").split("/")
    place = made
    for key in path:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return made


async def test_what_is_stored_was_read_from_the_bytes_held_here(registry, case):
    registered = await registry.register(case.body("kimi/eagle3"))
    assert registered.created
    record = registered.record
    assert record.ref == "kimi/eagle3@1"
    assert record.weights_digest.startswith("blake3:")
    assert {file.name: file.sha256 for file in record.inventory.files} == {
        name: sha256(data) for name, data in case.files.items()
    }
    assert record.provenance.actor == "ada"
    page = await registry.records.checkpoints()
    assert page.items[0].trained_depths == (3, 31, 59)


async def test_the_digest_of_the_dump_patch_stands_beside_its_name(registry, case):
    record = (await registry.register(case.body("kimi/eagle3"))).record
    capture = record.provenance.document["capture"]
    assert capture["source"] == "dump.patch"
    assert capture["source_digest"] == sha256(case.sources["dump.patch"])


async def test_a_dump_patch_that_is_named_but_not_sent_is_a_warning(registry, case):
    registered = await registry.register(case.body("kimi/eagle3", sources=[]))
    assert any("dump.patch" in warning and "not sent" in warning for warning in registered.warnings)


async def test_the_digest_of_a_dump_patch_that_nobody_sent_is_not_believed(registry, case):
    claimed = changed(case.provenance, "/capture/source_digest", sha256(b"never sent"))
    with pytest.raises(DocumentError) as caught:
        await registry.register(case.body("kimi/eagle3", provenance=claimed, sources=[]))
    assert [fault.pointer for fault in caught.value.faults] == ["/provenance/capture/source_digest"]
    held = changed(case.provenance, "/capture/source_digest", sha256(case.sources["dump.patch"]))
    assert (await registry.register(case.body("kimi/eagle3", provenance=held, sources=[]))).created


async def test_a_file_that_would_have_to_be_a_folder_is_refused_at_its_place(registry, case):
    files = [*entries(case.files), *entries({"config.json/model.safetensors": case.files["model.safetensors"]})]
    with pytest.raises(DocumentError) as caught:
        await registry.register(case.body("kimi/eagle3", files=files))
    assert [fault.pointer for fault in caught.value.faults] == ["/files/2/name"]


async def test_the_same_weights_with_the_same_facts_are_the_same_version(registry, case):
    await registry.register(case.body("kimi/eagle3"))
    again = await registry.register(case.body("kimi/eagle3"))
    assert not again.created
    assert again.record.ref == "kimi/eagle3@1"


@pytest.mark.parametrize("dry_run", [False, True])
async def test_the_same_weights_with_other_facts_show_the_difference(registry, case, dry_run):
    await registry.register(case.body("kimi/eagle3"))
    body = changed(case.body("kimi/eagle3"), "/provenance/training/steps", 1)
    with pytest.raises(FactsDiffer) as caught:
        await registry.register(body, dry_run=dry_run)
    (difference,) = caught.value.difference
    assert (difference.pointer, difference.registered, difference.given) == ("/training/steps", 21000, 1)


async def test_other_weights_are_the_next_version(registry, case):
    await registry.register(case.body("kimi/eagle3"))
    other = case.with_weights(7)
    registry.upload(other)
    assert (await registry.register(other.body("kimi/eagle3"))).record.ref == "kimi/eagle3@2"


async def test_a_dry_run_says_what_would_be_and_stores_nothing(registry, case):
    registered = await registry.register(case.body("kimi/eagle3"), dry_run=True)
    assert registered.created
    assert registered.record.ref == "kimi/eagle3@1"
    assert (await registry.records.checkpoints()).items == ()


async def test_a_dry_run_of_what_is_there_names_the_version_that_has_it(registry, case):
    await registry.register(case.body("kimi/eagle3"))
    rehearsed = await registry.register(case.body("kimi/eagle3"), dry_run=True)
    assert (rehearsed.created, rehearsed.record.ref) == (False, "kimi/eagle3@1")


async def test_an_unregistered_target_is_refused_with_the_command_that_adds_it(registry, case):
    body = changed(case.body("kimi/eagle3"), "/provenance/target/name", "nobody/knows")
    with pytest.raises(Refused, match="roost target add nobody/knows") as caught:
        await registry.register(body)
    assert caught.value.pointer == "/provenance/target"


async def test_another_revision_of_the_target_is_another_target(registry, case):
    body = changed(case.body("kimi/eagle3"), "/provenance/target/revision", "f" * 40)
    with pytest.raises(Refused, match="--revision " + "f" * 40):
        await registry.register(body)


async def test_every_missing_blob_is_named_at_once(registry, case):
    absent = case.with_file("config.json", b"{}").with_file("tokenizer.json", b"[]")
    with pytest.raises(DocumentError) as caught:
        await registry.register(absent.body("kimi/eagle3"))
    assert [fault.pointer for fault in caught.value.faults] == ["/files/0", "/files/2"]
    assert "PUT /v1/blobs/sha256:" in caught.value.faults[0].hint


async def test_a_claimed_size_that_is_not_the_blob_s_is_refused(registry, case):
    body = case.body("kimi/eagle3")
    body["files"][0]["size"] += 1
    with pytest.raises(DocumentError) as caught:
        await registry.register(body)
    assert caught.value.faults[0].pointer == "/files/0/size"


async def test_a_blob_damaged_on_disk_is_noticed(registry, case):
    place = registry.blobs.path(sha256(case.files["model.safetensors"]))
    data = bytearray(place.read_bytes())
    data[-1] ^= 1
    place.write_bytes(data)
    with pytest.raises(IntegrityMismatch, match=r"model\.safetensors"):
        await registry.register(case.body("kimi/eagle3"))
    assert (await registry.records.checkpoints()).items == ()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n", "ART101"),
        (b"\xff" * 8 + b"{}", "ART103"),
    ],
    ids=["lfs-pointer", "header-length"],
)
async def test_a_file_that_is_not_what_it_claims_is_refused_with_its_finding(registry, case, data, code):
    broken = case.with_file("model.safetensors", data)
    registry.upload(broken)
    with pytest.raises(RegistrationRefused, match=r"model\.safetensors") as caught:
        await registry.register(broken.body("kimi/eagle3"))
    assert code in {finding.code for finding in caught.value.findings}


async def test_a_record_that_contradicts_the_width_of_fc_is_refused_with_both_explanations(registry, case):
    body = changed(case.body("kimi/eagle3"), "/provenance/capture/layers", [3, 31, 59, 61])
    body = changed(body, "/provenance/capture/verifier_state", None)
    with pytest.raises(RegistrationRefused, match="verifier_state") as caught:
        await registry.register(body)
    assert caught.value.findings
    assert (await registry.records.checkpoints()).items == ()


async def test_ids_in_config_json_never_refuse_a_registration(registry, case):
    config = json.loads(case.files["config.json"])
    config["eagle_config"]["eagle_aux_hidden_state_layer_ids"] = [900, -7, 5]
    strange = case.with_file("config.json", json.dumps(config).encode())
    registry.upload(strange)
    assert (await registry.register(strange.body("kimi/eagle3"))).created


async def test_another_config_beside_the_same_weights_is_a_warning(registry, case):
    await registry.register(case.body("kimi/eagle3"))
    config = {**json.loads(case.files["config.json"]), "rms_norm_eps": 0.5}
    other = case.with_file("config.json", json.dumps(config).encode())
    registry.upload(other)
    again = await registry.register(other.body("kimi/eagle3"))
    assert not again.created
    assert any("config.json differs" in warning for warning in again.warnings)


async def test_the_same_weights_under_another_drafter_are_linked_and_differing_facts_are_a_warning(registry, case):
    await registry.register(case.body("kimi/eagle3"))
    same = await registry.register(case.body("kimi/copy"))
    assert [twin.ref for twin in same.record.twins] == ["kimi/eagle3@1"]
    assert not any("kimi/eagle3@1" in warning for warning in same.warnings)
    differing = await registry.register(changed(case.body("kimi/other"), "/provenance/capture/layers", [4, 31, 59]))
    said = next(warning for warning in differing.warnings if "kimi/eagle3@1" in warning)
    assert "kimi/eagle3@1 has the same weights as kimi/other" in said
    assert "trained on taps 3, 31, 59, not 4, 31, 59" in said
    assert "roost provenance amend" in said


async def test_a_stranger_who_counts_otherwise_or_knows_less_warns_nobody(registry, case):
    await registry.register(case.body("kimi"))
    body = case.body("stranger")
    body["provenance"]["capture"] |= {
        "counting": "after_layer",
        "layers": [2, 30, 58],
        "verifier_state": {"layer": 60, "norm": "none"},
    }
    del body["provenance"]["data"]
    body["provenance"]["training"]["steps"] = 1
    assert not any("TRN101" in warning for warning in (await registry.register(body)).warnings)


@pytest.mark.parametrize(
    ("counting", "layers", "depth"),
    [("before_layer", [3, 31, 99], 99), ("after_layer", [3, 31, 61], 62), ("sglang==1.0", [2, 30, 61], 62)],
)
async def test_a_depth_that_the_target_does_not_have_is_refused(registry, case, counting, layers, depth):
    body = case.body("kimi")
    body["provenance"]["capture"] |= {"counting": counting, "layers": layers, "verifier_state": {"layer": 60}}
    with pytest.raises(RegistrationRefused, match=rf"The record cannot be right. TAP109: .*\(depth {depth}\)"):
        await registry.register(body)
    assert await registry.records.checkpoint("kimi") is None


async def test_a_verifier_state_beyond_the_target_is_refused(registry, case):
    body = changed(case.body("kimi"), "/provenance/capture/verifier_state/layer", 62)
    with pytest.raises(RegistrationRefused, match=r"TAP109: .*verifier_state .*62"):
        await registry.register(body)


async def test_taps_that_nobody_can_know_are_said_to_be_unknown(registry, case):
    body = changed(case.body("kimi"), "/provenance/capture/counting", "sglang==9.9.9")
    warnings = (await registry.register(body)).warnings
    assert any("the trained taps are unknown" in warning and "'sglang==9.9.9'" in warning for warning in warnings)


async def test_a_name_that_leads_out_of_the_directory_never_reaches_a_path(registry, case):
    body = case.body("kimi/eagle3", files=[*entries(case.files), {**entries(case.files)[0], "name": "../config.json"}])
    with pytest.raises(DocumentError) as caught:
        await registry.register(body)
    assert caught.value.faults[0].pointer == "/files/2/name"
