import pytest
from fakes.sample_documents import matrix_document, matrix_request_document

from registry.documents import matrix
from registry.documents.canonical import canonical_bytes
from registry.documents.faults import DocumentError


def test_a_matrix_comes_back_as_written_and_its_bytes_are_canonical():
    parsed = matrix.parse(matrix_document())
    assert [row.takes for row in parsed.rows] == ["engine", "ids", "config"]
    assert parsed.rows[2].settings == (("architectures", ["LlamaForCausalLMEagle3"]),)
    assert [row.serves for row in parsed.rows] == [False, True, True]
    assert matrix.render(parsed) == matrix_document()
    assert matrix.matrix_bytes(parsed) == canonical_bytes(matrix_document())


def test_the_taps_may_be_unknown():
    document = {**matrix_document(), "trained_taps": None, "target": None}
    assert matrix.render(matrix.parse(document)) == document


def test_a_request_needs_a_checkpoint_and_nothing_else():
    request = matrix.parse_request({"schema": "roost.matrix-request/1", "checkpoint": "a/b"})
    assert (str(request.checkpoint), request.engine, request.runner, request.draft_config) == ("a/b", None, None, None)
    full = matrix.parse_request(matrix_request_document())
    assert (full.engine, full.launch_text) == ("sglang", "--disable-cuda-graph")


@pytest.mark.parametrize(
    ("key", "value", "pointer"),
    [
        ("engine", "sglang==0.5.23", "/engine"),
        ("runner", "v3", "/runner"),
        ("draft_config", [], "/draft_config"),
        ("checkpoint", "a@0", "/checkpoint"),
        ("version", 1, "/version"),
    ],
)
def test_a_bad_part_of_a_request_is_pointed_at(key, value, pointer):
    with pytest.raises(DocumentError) as caught:
        matrix.parse_request({**matrix_request_document(), key: value})
    assert caught.value.pointer == pointer
