"""The history of a record in words, and its members in the order of a hand."""

from roost.commands.provenance import history, in_written_order
from roost.screen import Paint

FIRST = {
    "target": {"revision": "abc", "name": "org/Model"},
    "capture": {"layers": [3], "verifier_state": {"norm": "none", "layer": 61}, "tool": "dump"},
    "schema": "roost.provenance/1",
    "zeta": 1,
}


def entry(revision: int, document: dict[str, object], reason: str) -> dict[str, object]:
    return {
        "revision": revision, "created_at": "2026-01-02T03:04:05Z", "actor": "ada", "reason": reason,
        "document": document,
    }  # fmt: skip


def test_members_stand_as_people_write_them_and_strangers_last() -> None:
    ordered = in_written_order(FIRST)
    assert list(ordered) == ["schema", "target", "capture", "zeta"]
    assert list(ordered["target"]) == ["name", "revision"]
    assert list(ordered["capture"]) == ["tool", "layers", "verifier_state"]
    assert list(ordered["capture"]["verifier_state"]) == ["layer", "norm"]
    assert ordered == FIRST


def test_the_newest_is_whole_and_each_revision_says_what_it_changed() -> None:
    second = {**FIRST, "training": {"steps": 2}, "zeta": None}
    found = {"ref": "k@1", "revisions": [entry(1, FIRST, "registered"), entry(2, second, "steps known")]}
    head, whole = history(found, paint=Paint()).split("\nas of revision 2:\n")
    assert head == (
        "k@1\n"
        "revision 1  2026-01-02 03:04:05  ada: registered\n"
        "revision 2  2026-01-02 03:04:05  ada: steps known\n"
        '  /training: nothing -> {"steps": 2}\n'
        "  /zeta: 1 -> nothing\n"
    )
    assert whole.count('"steps": 2') == 1
