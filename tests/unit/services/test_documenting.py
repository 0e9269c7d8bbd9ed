from datetime import UTC, datetime, timedelta, timezone

import pytest

from registry.documents import checkpoint as checkpoint_documents
from registry.domain.errors import Invalid, NotFound
from registry.rules import catalogue
from registry.services import documenting


async def test_a_checkpoint_is_a_document_of_its_schema(registry, case):
    registered = await registry.register(case.body("kimi"))
    made = documenting.checkpoint_document(
        registered.record, profiles=registry.profiles, warnings=registered.warnings, created=True
    )
    document = checkpoint_documents.render(made)
    assert checkpoint_documents.parse(document) == made
    assert [tap["depth"] for tap in document["trained_taps"]] == [3, 31, 59]
    assert document["layers"] == 61


def test_times_are_utc():
    moment = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert documenting.stamp(moment) == "2026-01-01T00:00:00Z"
    assert documenting.stamp(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00Z"


async def test_engine_builds_are_listed_with_their_citation(registry):
    rows = documenting.engine_views(registry.profiles)
    assert [(row["engine"], row["version"]) for row in rows] == [("sglang", "1.0"), ("sglang", "2.0")]
    assert rows[0]["profile"].startswith("sglang==1.0 rev 1 sha256:")


async def test_a_profile_is_found_by_its_build(registry):
    assert documenting.profile_document("sglang==2.0", registry.profiles)["version"] == "2.0"
    with pytest.raises(NotFound, match=r"sglang==1\.0, sglang==2\.0"):
        documenting.profile_document("sglang==1.5", registry.profiles)
    with pytest.raises(Invalid):
        documenting.profile_document("sglang", registry.profiles)


def test_every_rule_is_listed_and_has_a_manual():
    rows = documenting.rule_views()
    assert [row["code"] for row in rows["items"]] == [rule.code for rule in catalogue().rules]
    view = documenting.rule_view("tap101")
    assert view["code"] == "TAP101"
    assert view["manual"].startswith("# TAP101")


def test_an_unknown_rule_names_the_nearest():
    with pytest.raises(NotFound, match="TAP10"):
        documenting.rule_view("TAP100")
