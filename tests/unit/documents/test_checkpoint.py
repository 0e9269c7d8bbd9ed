import pytest
from fakes.sample_documents import checkpoint_document

from registry.documents import checkpoint
from registry.documents.faults import DocumentError


def test_a_checkpoint_comes_back_as_written():
    parsed = checkpoint.parse(checkpoint_document())
    assert parsed.ref == "moonshotai/Kimi-K2.5-eagle3@1"
    assert parsed.files[0].role == "weights"
    assert checkpoint.render(parsed) == checkpoint_document()


def test_unknown_taps_are_null_and_other_parts_that_are_not_there_are_left_out():
    optional = {"target_revision", "layers", "created", "created_at", "provenance", "config"}
    document = {key: value for key, value in checkpoint_document().items() if key not in optional}
    document.update(trained_taps=None, why_unknown="the counting is not known here")
    assert checkpoint.render(checkpoint.parse(document)) == document


def test_the_answer_to_a_registration_starts_with_what_was_promised():
    keys = list(checkpoint.render(checkpoint.parse(checkpoint_document())))
    assert keys[:6] == ["schema", "ref", "name", "version", "weights_digest", "files"]


@pytest.mark.parametrize("key", ["ref", "version", "files", "trained_taps", "why_unknown"])
def test_parts_that_are_always_there_are_required(key):
    document = checkpoint_document()
    del document[key]
    with pytest.raises(DocumentError) as caught:
        checkpoint.parse(document)
    assert caught.value.pointer == f"/{key}"
