"""Additions of profiles: what is kept, what is refused with every fault, and the history that follows."""

import copy
from dataclasses import replace

import pytest
from fakes import sample_documents
from fakes.profiles import profile
from fakes.records import FakeRecords
from fakes.shipped import shipped

from registry.documents import engine_profile, profile_addition
from registry.documents.faults import DocumentError
from registry.domain.errors import NotFound
from registry.domain.proposal import parse_build
from registry.services.profile_additions import add_profile
from registry.services.profile_history import history
from registry.services.profile_layers import ProfileLayers

RELEASE = profile(version="0.5.9")
KIMI = "KimiK25ForConditionalGeneration"
DIGEST = "sha256:0123456789ab" + "0" * 52


@pytest.fixture
def records():
    return FakeRecords()


@pytest.fixture
def layers(records):
    return ProfileLayers(shipped(RELEASE, profile(version="0.5.10")), records)


def fork(**changes):
    made = {**copy.deepcopy(sample_documents.engine_profile_document()), **changes}
    return {key: value for key, value in made.items() if value is not None}


def corrected(**graphs):
    document = engine_profile.render(RELEASE)
    return {**document, "graphs": {**document["graphs"], **graphs}}


async def add(records, layers, document, **members):
    sent = {"profile": document, "reason": "read again", **members}
    return await add_profile(document=profile_addition.parse(sent), records=records, layers=layers, actor="ada")


async def refused(records, layers, document, **members):
    with pytest.raises(DocumentError) as caught:
        await add(records, layers, document, **members)
    assert await records.profile_mark() is None
    return {fault.pointer: fault.message for fault in caught.value.faults}


async def test_a_correction_is_the_next_revision_and_says_what_it_changes(records, layers):
    added = await add(records, layers, corrected(ids_hold=False))
    assert (str(added.build), added.created) == ("sglang==0.5.9", True)
    entry = added.entry
    assert (entry.revision, entry.origin, entry.in_force) == (2, "added", True)
    assert [(one.pointer, one.registered, one.given) for one in entry.changes] == [("/graphs/ids_hold", True, False)]
    assert (await layers.current()).get(added.build).citation.startswith("sglang==0.5.9 rev 2 ")


async def test_the_facts_of_the_shipped_profile_are_known_already(records, layers):
    added = await add(records, layers, {**engine_profile.render(RELEASE), "revision": 9})
    assert (added.created, added.entry.origin, added.entry.revision) == (False, "shipped", 1)
    assert await records.profile_mark() is None


async def test_the_shipped_facts_can_be_gone_back_to(records, layers):
    await add(records, layers, corrected(ids_hold=False))
    back = await add(records, layers, engine_profile.render(RELEASE))
    assert (back.created, back.entry.revision) == (True, 3)
    assert (await layers.current()).get(back.build).graphs.ids_hold


async def test_the_same_again_is_the_same_revision_however_it_is_written(records, layers):
    first = await add(records, layers, fork())
    spelled = fork(revision=7)
    spelled["targets"][KIMI] |= {"captures": "listed", "negative": "dropped"}
    again = await add(records, layers, spelled, reason="once more")
    assert (first.entry.revision, first.created, again.created) == (1, True, False)
    assert again.entry == first.entry


async def test_the_history_of_a_build_has_every_revision_and_what_it_changed(records, layers):
    await add(records, layers, corrected(ids_hold=False))
    await add(records, layers, corrected(ids_hold=True, cost="none"))
    entries = await history(parse_build("sglang==0.5.9"), records=records, layers=layers)
    assert [(one.revision, one.origin, one.in_force) for one in entries] == [
        (1, "shipped", False), (2, "added", False), (3, "added", True),
    ]  # fmt: skip
    assert [[change.pointer for change in one.changes] for one in entries] == [
        [], ["/graphs/ids_hold"], ["/graphs/cost", "/graphs/ids_hold"],
    ]  # fmt: skip
    assert [one.actor for one in entries] == [None, "ada", "ada"]


async def test_a_build_without_a_profile_has_no_history_and_names_its_neighbors(records, layers):
    with pytest.raises(NotFound, match=r"sglang==0\.5\.9, sglang==0\.5\.10"):
        await history(parse_build("sglang==0.5.9.post1"), records=records, layers=layers)


async def test_a_scanned_tree_is_a_build_of_its_own(records, layers):
    node = {"origin": "node", "source_digest": DIGEST}
    added = await add(records, layers, fork(version="0.5.9+local.0123456789ab"), **node)
    assert (added.entry.origin, added.entry.source_digest) == ("node", DIGEST)
    more = await add(records, layers, fork(version="0.5.9+cu129.local.0123456789ab"), **node)
    assert more.created
    assert (await layers.current()).upstream("sglang") == ("0.5.9", "0.5.10")


@pytest.mark.parametrize("version", ["0.5.11", "0.5.9+local.0", "0.5.9+local.ab0123456789", "0.5.9+0123456789ab"])
async def test_a_node_cannot_call_its_engine_a_release_or_another_build(records, layers, version):
    found = await refused(records, layers, fork(version=version), origin="node", source_digest=DIGEST)
    assert "local.0123456789ab" in found["/profile/version"]


async def test_a_nodes_profile_has_the_digest_of_its_source(records, layers):
    assert set(await refused(records, layers, fork(), origin="node")) == {"/source_digest"}


async def test_every_fault_is_named_at_once_and_nothing_is_stored(records, layers):
    document = fork(upstream="0.5.8", engine="slang")
    document["targets"][KIMI]["probes"][1]["depths"] = [2, 30, 58]
    document["targets"][KIMI]["needed_methods"] = ["get_embed_and_head"]
    found = await refused(records, layers, document)
    assert set(found) == {
        "/profile/engine", "/profile/upstream", f"/profile/targets/{KIMI}/needed_methods",
        f"/profile/targets/{KIMI}/probes/1",
    }  # fmt: skip
    assert "depths [3, 31, 59] by the facts" in found[f"/profile/targets/{KIMI}/probes/1"]


@pytest.mark.parametrize(
    ("changes", "pointer", "words"),
    [
        ({"upstream": "0.5.99"}, "/profile/upstream", "the nearest are 0.5.10"),
        ({"upstream": None}, "/profile/upstream", "has a local part"),
        ({"version": "0.5.10"}, "/profile/upstream", "a release itself"),
        ({"version": "0.5.9+" + "x" * 100}, "/profile/version", "114 characters"),
    ],
)
async def test_a_name_that_says_something_else_than_the_profile_is_refused(records, layers, changes, pointer, words):
    found = await refused(records, layers, fork(**changes))
    assert set(found) == {pointer}
    assert words in found[pointer]


async def test_a_fork_of_a_release_that_was_added_is_known(records, layers):
    await add(records, layers, engine_profile.render(replace(RELEASE, version="0.5.12")))
    added = await add(records, layers, fork(version="0.5.12+mine", upstream="0.5.12"))
    assert added.created
