import pytest
from fakes.sample_documents import engine_diff_document

from registry.documents import engine_diff
from registry.documents.canonical import canonical_bytes
from registry.documents.faults import DocumentError


def test_a_comparison_comes_back_as_written_and_its_bytes_are_canonical():
    parsed = engine_diff.parse(engine_diff_document())
    assert (parsed.before, parsed.after, parsed.next) == ("sglang==0.5.12.post1", "sglang==0.5.13", "cursor")
    assert [effect.effect for effect in parsed.checkpoints] == ["ids", "stay"]
    assert engine_diff.render(parsed) == engine_diff_document()
    assert engine_diff.diff_bytes(parsed) == canonical_bytes(engine_diff_document())


def test_checkpoints_that_were_not_asked_for_are_null_and_not_none_at_all():
    document = {**engine_diff_document(), "checkpoints": None}
    parsed = engine_diff.parse(document)
    assert parsed.checkpoints is None
    assert engine_diff.render(parsed) == document
    nobody = {**document, "checkpoints": {"items": [], "next": None}}
    assert engine_diff.render(engine_diff.parse(nobody)) == nobody


def test_a_bad_effect_is_pointed_at():
    document = engine_diff_document()
    document["checkpoints"]["items"][1]["effect"] = "upgrade"
    with pytest.raises(DocumentError) as caught:
        engine_diff.parse(document)
    assert caught.value.pointer == "/checkpoints/items/1/effect"
