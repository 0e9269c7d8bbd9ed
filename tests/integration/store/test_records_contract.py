"""What every implementation of the port `Records` must do: Postgres does it, and so does the fake that tests use."""

import asyncio
from dataclasses import replace

import pytest
from fakes import new_records
from fakes.new_records import emission_record, new_checkpoint, new_profile, target_record, verdict_record, weights
from fakes.records import FakeRecords

from registry.documents import provenance as provenance_documents
from registry.documents.engine_profile import digest_of
from registry.domain.differences import FactsDiffer
from registry.domain.errors import Conflict, NotFound, Refused

NAME = "kimi/eagle3"


@pytest.fixture(params=["postgres", "fake"])
def run(request, on_postgres):
    """Runs a scenario on an empty store."""
    if request.param == "fake":
        return lambda scenario: asyncio.run(scenario(FakeRecords()))
    url = request.getfixturevalue("database").service_url
    return lambda scenario: on_postgres(url, scenario)


def amendment(**facts):
    document = new_records.provenance_document(**facts)
    return {"provenance": provenance_documents.parse(document), "document": document}


def test_it_is_ready(run):
    async def scenario(records):
        return await records.ready()

    assert run(scenario) is None


def test_a_target_comes_back_as_it_was_added(run):
    async def scenario(records):
        added, changed = await records.add_target(target_record(), actor="ada")
        return added, changed, await records.target(new_records.TARGET, new_records.REVISION)

    added, changed, found = run(scenario)
    assert changed
    assert added == found == target_record()
    assert found.target.layers == 61


def test_the_same_target_again_changes_nothing(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        return await records.add_target(target_record(), actor="bob")

    assert run(scenario) == (target_record(), False)


def test_a_missing_digest_is_filled_in_and_stays(run):
    with_digest = target_record(digest=weights(5))

    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        filled = await records.add_target(with_digest, actor="ada")
        again = await records.add_target(target_record(), actor="ada")
        return filled, again, await records.target(new_records.TARGET, new_records.REVISION)

    assert run(scenario) == ((with_digest, True), (with_digest, False), with_digest)


def test_another_config_under_the_same_revision_is_a_conflict_that_shows_where(run):
    config = {**target_record().config, "architectures": ["Another"]}

    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        with pytest.raises(FactsDiffer) as caught:
            await records.add_target(target_record(config=config), actor="ada")
        return caught.value, await records.target(new_records.TARGET)

    error, found = run(scenario)
    assert [one.pointer for one in error.difference] == ["/config/architectures"]
    assert error.difference[0].given == ["Another"]
    assert found == target_record()


def test_another_digest_of_the_same_kind_is_a_conflict(run):
    async def scenario(records):
        await records.add_target(target_record(digest=weights(5)), actor="ada")
        with pytest.raises(Conflict):
            await records.add_target(target_record(digest=weights(6)), actor="ada")

    run(scenario)


def test_without_a_revision_the_newest_target_of_the_name_is_found(run):
    async def scenario(records):
        for revision in ("r1", None, "r0"):
            await records.add_target(target_record(revision=revision), actor="ada")
        newest = await records.target(new_records.TARGET)
        return newest, await records.target(new_records.TARGET, "r1"), await records.target("other")

    newest, of_revision, missing = run(scenario)
    assert newest.target.revision == "r0"
    assert of_revision.target.revision == "r1"
    assert missing is None


def test_targets_are_listed_in_pages_by_name(run):
    names = ["b/x", "a", "B", "b"]

    async def scenario(records):
        for name in names:
            await records.add_target(target_record(name=name), actor="ada")
        return await pages(records.targets)

    assert [[record.target.name for record in page] for page in run(scenario)] == [["B", "a"], ["b", "b/x"]]


async def pages(listing, **arguments):
    found, after = [], None
    while True:
        page = await listing(after=after, limit=2, **arguments)
        found.append(page.items)
        after = page.next
        if after is None:
            return found


def test_a_registered_checkpoint_comes_back_whole(run):
    new = new_checkpoint()

    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        record, created = await records.add_checkpoint(new)
        by_ref = await records.checkpoint(NAME, 1)
        newest = await records.checkpoint(NAME)
        return record, created, by_ref, newest, await records.checkpoint_by_digest(new.weights_digest)

    record, created, *others = run(scenario)
    assert created
    assert record.ref == "kimi/eagle3@1"
    assert record.inventory == new.inventory
    assert record.provenance.provenance == new.provenance
    assert record.provenance.document == new.document
    assert (record.provenance.revision, record.provenance.actor) == (1, "ada")
    assert record.target == target_record()
    assert record.twins == ()
    assert others == [record] * 3


def test_what_is_not_there_is_none(run):
    async def scenario(records):
        return (
            await records.checkpoint(NAME),
            await records.checkpoint(NAME, 1),
            await records.checkpoint_by_digest(weights(1)),
            await records.checkpoint_with_weights(NAME, weights(1)),
            await records.verdict(new_records.sha256("none")),
            await records.emission(new_records.sha256("none")),
        )

    assert run(scenario) == (None,) * 6


def test_other_weights_get_the_next_version(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        made = [await records.add_checkpoint(new_checkpoint(number=number)) for number in (1, 2, 3)]
        other = await records.add_checkpoint(new_checkpoint("other", 9))
        return [record.version for record, _ in made], other[0].version, (await records.checkpoint(NAME)).version

    assert run(scenario) == ([1, 2, 3], 1, 3)


def test_the_same_weights_and_facts_return_the_same_version(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint(number=1))
        await records.add_checkpoint(new_checkpoint(number=2))
        again, created = await records.add_checkpoint(new_checkpoint(number=1, actor="bob"))
        third, _ = await records.add_checkpoint(new_checkpoint(number=3))
        return again.version, created, again.provenance.actor, third.version

    assert run(scenario) == (1, False, "ada", 3)


def test_the_same_weights_with_other_facts_are_a_conflict_that_shows_them(run):
    document = new_records.provenance_document()
    capture = {**document["capture"], "layers": [2, 30, 58]}

    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        with pytest.raises(FactsDiffer) as caught:
            await records.add_checkpoint(new_checkpoint(capture=capture))
        return caught.value, await records.checkpoint(NAME)

    error, record = run(scenario)
    assert [(one.pointer, one.registered, one.given) for one in error.difference] == [
        ("/capture/layers", [3, 31, 59], [2, 30, 58])
    ]
    assert record.provenance.document == document


def test_a_checkpoint_of_an_unregistered_target_is_refused_and_leaves_nothing(run):
    async def scenario(records):
        with pytest.raises(Refused):
            await records.add_checkpoint(new_checkpoint())
        return await records.checkpoint(NAME), await records.events(NAME), (await records.drafters()).items

    assert run(scenario) == (None, (), ())


def test_the_same_weights_under_other_names_are_linked(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint("first"))
        before = await records.twins(weights(1), name="second", document=new_records.provenance_document())
        second, _ = await records.add_checkpoint(new_checkpoint("second"))
        third, _ = await records.add_checkpoint(new_checkpoint("third", standardization={"name": "arrow"}))
        by_name = await records.checkpoint_with_weights("second", weights(1))
        return before, second.twins, third.twins, (await records.checkpoint_by_digest(weights(1))).ref, by_name.ref

    before, of_second, of_third, first, by_name = run(scenario)
    assert [(twin.ref, twin.facts_differ) for twin in before] == [("first@1", ())]
    assert of_second == before
    assert [twin.ref for twin in of_third] == ["first@1", "second@1"]
    assert all("/standardization/name" in twin.facts_differ for twin in of_third)
    assert (first, by_name) == ("first@1", "second@1")


def test_an_amendment_is_a_new_revision_and_the_old_one_stays(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        facts = amendment(standardization={"name": "arrow"})
        revision = await records.amend(NAME, 1, **facts, actor="bob", reason="read the log again")
        return revision, await records.revisions(NAME, 1), await records.checkpoint(NAME, 1)

    revision, revisions, record = run(scenario)
    assert [one.revision for one in revisions] == [1, 2]
    assert revisions[0].document == new_records.provenance_document()
    assert revisions[1] == revision == record.provenance
    assert (revision.actor, revision.reason) == ("bob", "read the log again")
    assert revision.provenance.standardization.name == "arrow"


def test_an_amendment_with_the_newest_facts_changes_nothing(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        same = await records.amend(NAME, 1, **amendment(), actor="bob", reason="again")
        return same, await records.revisions(NAME, 1)

    same, revisions = run(scenario)
    assert revisions == (same,)
    assert same.actor == "ada"


def test_going_back_to_earlier_facts_is_a_revision_too(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        await records.amend(NAME, 1, **amendment(standardization={"name": "arrow"}), actor="bob", reason="wrong")
        return await records.amend(NAME, 1, **amendment(), actor="bob", reason="was right")

    assert run(scenario).revision == 3


def test_an_amendment_of_another_revision_than_expected_is_a_conflict(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        arrow = amendment(standardization={"name": "arrow"})
        await records.amend(NAME, 1, **arrow, actor="bob", reason="first", expected_revision=1)
        other = amendment(standardization={"name": "standardize_data_v0"})
        with pytest.raises(Conflict):
            await records.amend(NAME, 1, **other, actor="eve", reason="second", expected_revision=1)
        return await records.revisions(NAME, 1)

    assert len(run(scenario)) == 2


def test_amending_what_is_not_there_is_not_found(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        for name, version in ((NAME, 2), ("other", 1)):
            with pytest.raises(NotFound):
                await records.amend(name, version, **amendment(), actor="bob", reason="none")
        return await records.revisions(NAME, 2)

    assert run(scenario) == ()


def test_checkpoints_are_listed_in_pages_by_name_and_version(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        for name, number in (("b", 1), ("a/x", 2), ("b", 3), ("b", 4), ("C", 5)):
            await records.add_checkpoint(new_checkpoint(name, number))
        return await pages(records.checkpoints), await pages(records.checkpoints, name="b")

    everything, of_one = run(scenario)
    assert [[(row.name, row.version) for row in page] for page in everything] == [
        [("C", 1), ("a/x", 1)],
        [("b", 1), ("b", 2)],
        [("b", 3)],
    ]
    assert [[row.version for row in page] for page in of_one] == [[1, 2], [3]]
    assert everything[0][0].trained_depths == (3, 31, 59)
    assert everything[0][0].target_name == new_records.TARGET


def test_drafters_are_listed_in_pages_with_their_newest_version(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        for name, number in (("b", 1), ("a", 2), ("b", 3), ("c", 4)):
            await records.add_checkpoint(new_checkpoint(name, number))
        return await pages(records.drafters)

    rows = run(scenario)
    assert [[(row.name, row.versions, row.newest) for row in page] for page in rows] == [
        [("a", 1, "a@1"), ("b", 2, "b@2")],
        [("c", 1, "c@1")],
    ]
    assert rows[0][0].target_name == new_records.TARGET


def test_a_verdict_comes_back_and_goes_stale_with_a_new_revision(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        stored = await records.add_verdict(verdict_record(f"{NAME}@1"), actor="ada")
        fresh = await records.verdict(stored.id)
        await records.amend(NAME, 1, **amendment(standardization={"name": "arrow"}), actor="bob", reason="wrong")
        return stored, fresh, await records.verdict(stored.id)

    stored, fresh, stale = run(scenario)
    assert (stored.ref, stored.body, stored.stale) == (f"{NAME}@1", verdict_record(f"{NAME}@1").body, False)
    assert fresh == stored
    assert stale == replace(stored, stale=True)


def test_an_emission_comes_back_and_the_same_again_is_the_stored_one(run):
    given = emission_record(f"{NAME}@1")

    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        stored = await records.add_emission(given, actor="ada")
        again = await records.add_emission(given, actor="bob")
        return stored, again, await records.emission(given.id)

    stored, again, found = run(scenario)
    assert replace(stored, created_at=given.created_at) == given
    assert again == found == stored


def test_every_change_is_an_event(run):
    async def scenario(records):
        await records.add_target(target_record(), actor="ada")
        await records.add_checkpoint(new_checkpoint())
        await records.amend(NAME, 1, **amendment(standardization={"name": "arrow"}), actor="bob", reason="wrong")
        await records.add_verdict(verdict_record(f"{NAME}@1", revision=2), actor="cay")
        await records.add_emission(emission_record(f"{NAME}@1"), actor="dan")
        return await records.events(NAME), await records.events("other")

    events, of_other = run(scenario)
    assert [(event.sequence, event.kind, event.actor) for event in events] == [
        (1, "checkpoint.registered", "ada"),
        (2, "provenance.amended", "bob"),
        (3, "verdict.stored", "cay"),
        (4, "emission.stored", "dan"),
    ]
    assert of_other == ()


def test_an_added_profile_comes_back_with_its_revision_in_it(run):
    new = new_profile(origin="node")

    async def scenario(records):
        before = await records.profile_mark()
        added, created = await records.add_profile(new)
        return before, added, created, await records.profile_revisions("sglang", "0.5.9+mine")

    before, added, created, kept = run(scenario)
    assert before is None
    assert created
    assert kept == (added,)
    assert (added.revision, added.origin, added.source_digest) == (1, "node", new.source_digest)
    assert (added.build, added.actor, added.reason) == ("sglang==0.5.9+mine", "ada", "read again")
    assert added.document == new.document
    assert added.digest == digest_of(added.document)


def test_revisions_of_a_profile_are_consecutive_per_build_and_follow_the_shipped_one(run):
    async def scenario(records):
        of_one = [await records.add_profile(new_profile("1+a", layers=n)) for n in (10, 11, 12)]
        of_other = [await records.add_profile(new_profile("0.5.14", layers=n, after=3)) for n in (10, 11)]
        return [one.revision for one, _ in of_one], [one.revision for one, _ in of_other], of_other[0][0]

    of_one, of_other, first = run(scenario)
    assert (of_one, of_other) == ([1, 2, 3], [4, 5])
    assert first.document["revision"] == 4


def test_the_same_facts_return_the_same_revision(run):
    async def scenario(records):
        first = await records.add_profile(new_profile())
        again = await records.add_profile(new_profile(actor="bob", after=7))
        return first, again, await records.profile_revisions("sglang", "0.5.9+mine")

    (first, created), (again, created_again), kept = run(scenario)
    assert (created, created_again) == (True, False)
    assert first == again
    assert kept == (first,)


def test_going_back_to_the_facts_of_an_older_revision_is_a_revision(run):
    async def scenario(records):
        made = [await records.add_profile(new_profile(layers=n)) for n in (10, 11, 10)]
        return [(one.revision, created) for one, created in made]

    assert run(scenario) == [(1, True), (2, True), (3, True)]


def test_a_node_that_scans_again_does_not_undo_a_correction(run):
    async def scenario(records):
        await records.add_profile(new_profile(layers=10, origin="node"))
        corrected, _ = await records.add_profile(new_profile(layers=11))
        again, created = await records.add_profile(new_profile(layers=10, origin="node"))
        late, created_late = await records.add_profile(new_profile(layers=12, origin="node"))
        return corrected, again.revision, created, late.revision, created_late, await records.profiles_newest()

    corrected, again, created, late, created_late, newest = run(scenario)
    assert (again, created, late, created_late) == (1, False, 3, True)
    assert newest == (corrected,)


def test_the_newest_profile_of_each_build_is_listed_and_the_mark_names_the_last_addition(run):
    async def scenario(records):
        marks = [await records.profile_mark()]
        for version, layers in (("2+b", 10), ("1+a", 10), ("2+b", 11)):
            await records.add_profile(new_profile(version, layers=layers))
            marks.append(await records.profile_mark())
        await records.add_profile(new_profile("1+a", layers=10))
        marks.append(await records.profile_mark())
        late = await records.profiles_newest(after=marks[1].number)
        latest = await records.profiles_newest(after=marks[-1].number)
        return marks, await records.profiles_newest(), late, latest

    marks, newest, late, latest = run(scenario)
    assert [(one.version, one.revision) for one in newest] == [("1+a", 1), ("2+b", 2)]
    assert late == newest
    assert latest == ()
    assert len(set(marks[:4])) == 4
    assert marks[4] == marks[3]
    assert (marks[3].number, marks[3].digest) == (newest[1].number, newest[1].digest)
    assert marks[1].number < marks[2].number < marks[3].number
