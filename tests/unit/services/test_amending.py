import copy

import pytest
from fakes.founding import entries, sha256

from registry.documents.faults import DocumentError
from registry.documents.requests import parse_amendment
from registry.domain.errors import Conflict, NotFound, Refused
from registry.services.amending import amend
from registry.services.refusals import RegistrationRefused


async def amended(registry, provenance, *, ref="kimi", reason="measured again", **more):
    return await amend(
        ref=ref,
        document=parse_amendment({"provenance": provenance, "reason": reason, **more}),
        records=registry.records,
        blobs=registry.blobs,
        profiles=registry.profiles,
        actor="grace",
    )


@pytest.fixture
async def registered(registry, case):
    await registry.register(case.body("kimi"))
    return registry


@pytest.fixture
def provenance(case):
    return copy.deepcopy(case.provenance)


async def test_the_digest_of_a_source_that_nobody_sent_is_not_believed(registered, provenance):
    provenance["capture"]["source_digest"] = sha256(b"never sent")
    with pytest.raises(DocumentError) as caught:
        await amended(registered, provenance)
    assert [fault.pointer for fault in caught.value.faults] == ["/provenance/capture/source_digest"]


async def test_a_correction_is_a_new_revision_and_the_old_one_stays(registered, provenance):
    provenance["training"]["steps"] = 22000
    result = await amended(registered, provenance)
    assert (result.created, result.revision.revision, result.revision.actor) == (True, 2, "grace")
    revisions = await registered.records.revisions("kimi", 1)
    assert [revision.document["training"]["steps"] for revision in revisions] == [21000, 22000]


async def test_the_same_facts_again_are_the_revision_that_has_them(registered, provenance):
    result = await amended(registered, provenance)
    assert (result.created, result.revision.revision) == (False, 1)


async def test_the_dump_patch_keeps_its_digest_without_being_sent_again(registered, provenance, case):
    provenance["training"]["steps"] = 22000
    document = (await amended(registered, provenance)).revision.document
    assert document["capture"]["source_digest"] == sha256(case.sources["dump.patch"])


async def test_another_dump_patch_is_stored_with_its_own_digest(registered, provenance):
    patch = b"another patch\n"
    registered.blobs.write_bytes(patch)
    result = await amended(registered, provenance, sources=entries({"dump.patch": patch}))
    assert result.revision.document["capture"]["source_digest"] == sha256(patch)


async def test_a_dump_patch_whose_bytes_are_not_here_is_named(registered, provenance):
    with pytest.raises(DocumentError) as caught:
        await amended(registered, provenance, sources=entries({"dump.patch": b"never sent"}))
    assert caught.value.faults[0].pointer == "/sources/0"


async def test_the_new_record_is_held_against_the_files_like_a_registration(registered, provenance):
    provenance["capture"]["layers"] = [3, 31]
    with pytest.raises(RegistrationRefused):
        await amended(registered, provenance)
    assert len(await registered.records.revisions("kimi", 1)) == 1


async def test_the_new_taps_show_in_listings(registered, provenance):
    provenance["capture"]["layers"] = [4, 31, 59]
    await amended(registered, provenance)
    assert (await registered.records.checkpoints()).items[0].trained_depths == (4, 31, 59)


async def test_a_target_that_is_not_registered_is_refused(registered, provenance):
    provenance["target"]["name"] = "other/target"
    with pytest.raises(Refused, match="roost target add"):
        await amended(registered, provenance)


async def test_a_correction_of_a_revision_that_is_no_longer_the_newest_is_a_conflict(registered, provenance):
    provenance["training"]["steps"] = 22000
    await amended(registered, provenance, expected_revision=1)
    provenance["training"]["steps"] = 23000
    with pytest.raises(Conflict):
        await amended(registered, provenance, expected_revision=1)


async def test_what_is_not_there_cannot_be_amended(registered, provenance):
    with pytest.raises(NotFound):
        await amended(registered, provenance, ref="nobody")


async def test_a_depth_that_the_target_does_not_have_is_refused_in_any_counting(registered, provenance):
    for counting, layers in (("before_layer", [3, 31, 99]), ("sglang==1.0", [2, 30, 61])):
        provenance["capture"] |= {"counting": counting, "layers": layers}
        with pytest.raises(RegistrationRefused, match="TAP109"):
            await amended(registered, provenance)
    assert len(await registered.records.revisions("kimi", 1)) == 1


async def test_taps_that_become_unknown_are_said_to_be(registered, provenance):
    provenance["capture"]["counting"] = "sglang==9.9.9"
    result = await amended(registered, provenance)
    assert (result.created, result.trained.taps) == (True, None)
    assert any(
        "the trained taps are unknown" in warning and "'sglang==9.9.9'" in warning for warning in result.warnings
    )


async def test_an_unknown_standardization_is_said_once(registered, provenance):
    provenance["standardization"]["name"] = "mine"
    result = await amended(registered, provenance)
    assert len([warning for warning in result.warnings if "trained taps" in warning]) == 1


async def test_an_amendment_is_compared_with_twins_as_it_will_be(registered, provenance, case):
    await registered.register(case.body("other"))
    assert not any("TRN101" in warning for warning in (await amended(registered, provenance)).warnings)
    provenance["capture"]["layers"] = [4, 31, 59]
    result = await amended(registered, provenance)
    assert any("TRN101: other@1" in warning for warning in result.warnings)
