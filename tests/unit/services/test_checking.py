import hashlib

import pytest

from registry.documents import proposal as proposal_documents
from registry.documents.requests import parse_amendment
from registry.documents.verdict import verdict_bytes
from registry.domain.errors import Invalid, NotFound, Refused
from registry.domain.taps import depths_of
from registry.services.amending import amend
from registry.services.checking import check, store_verdict


async def checked(registry, engine="sglang==1.0", **parts):
    body = {"schema": "roost.proposal/1", "checkpoint": "kimi", "engine": engine, **parts}
    document = proposal_documents.parse(body)
    return await check(document=document, records=registry.records, profiles=registry.profiles)


async def test_the_stored_config_is_judged_where_none_is_proposed(registry, case):
    await registry.register(case.body("kimi"))
    verdict = (await checked(registry)).verdict
    assert verdict.decision != "block"
    assert depths_of(verdict.effective_taps.prefill) == (3, 31, 59)


async def test_a_proposed_config_takes_the_place_of_the_stored_one(registry, case):
    await registry.register(case.body("kimi"))
    config = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 3, 4]},
    }
    verdict = (await checked(registry, draft_config=config)).verdict
    assert verdict.decision == "block"


async def test_a_build_that_is_not_listed_is_a_verdict_and_no_error(registry, case):
    await registry.register(case.body("kimi"))
    verdict = (await checked(registry, engine="sglang==9.9")).verdict
    assert (verdict.decision, verdict.remedy, verdict.outcome) == ("block", "unknown", "unknown")
    assert verdict.effective_taps is None


async def test_the_same_question_has_the_same_bytes_whichever_way_the_checkpoint_is_named(registry, case):
    await registry.register(case.body("kimi"))
    by_name = verdict_bytes((await checked(registry)).verdict)
    by_version = verdict_bytes((await checked(registry, checkpoint="kimi@1")).verdict)
    assert by_name == by_version


async def test_launch_text_that_no_shell_would_take_is_invalid(registry, case):
    await registry.register(case.body("kimi"))
    with pytest.raises(Invalid) as caught:
        await checked(registry, launch="--model 'unclosed")
    assert caught.value.pointer == "/launch"


async def test_what_is_not_registered_is_said_with_its_place(registry, case):
    with pytest.raises(NotFound) as caught:
        await checked(registry)
    assert caught.value.pointer == "/checkpoint"
    await registry.register(case.body("kimi"))
    with pytest.raises(Refused) as refused:
        await checked(registry, target="other/target")
    assert refused.value.pointer == "/target"


async def test_a_stored_verdict_is_kept_under_the_digest_of_its_bytes_and_goes_stale(registry, case):
    await registry.register(case.body("kimi"))
    document = proposal_documents.parse({"schema": "roost.proposal/1", "checkpoint": "kimi", "engine": "sglang==1.0"})
    record = await store_verdict(document=document, records=registry.records, profiles=registry.profiles, actor="ada")
    assert record.id == "sha256:" + hashlib.sha256(record.body).hexdigest()
    assert (record.ref, record.provenance_revision) == ("kimi@1", 1)
    assert not (await registry.records.verdict(record.id)).stale
    await amended(registry, case)
    assert (await registry.records.verdict(record.id)).stale


async def amended(registry, case):
    body = {"provenance": {**case.provenance, "data": {"samples": 5}}, "reason": "counted again"}
    await amend(
        ref="kimi",
        document=parse_amendment(body),
        records=registry.records,
        blobs=registry.blobs,
        profiles=registry.profiles,
        actor="ada",
    )
