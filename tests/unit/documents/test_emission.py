import pytest
from fakes.sample_documents import emission_document

from registry.documents import emission
from registry.documents.faults import DocumentError


def test_an_emission_comes_back_as_written():
    parsed = emission.parse(emission_document())
    assert parsed.files[0].source is None
    assert parsed.files[1].source == "checkpoint"
    assert parsed.verdict.decision == "warn"
    assert emission.render(parsed) == emission_document()


def test_a_file_is_listed_once():
    document = emission_document()
    document["files"][1]["name"] = "config.json"
    with pytest.raises(DocumentError) as caught:
        emission.parse(document)
    assert caught.value.pointer == "/files/1/name"


def test_faults_of_the_verdict_inside_are_pointed_at_from_the_outside():
    document = emission_document()
    document["verdict"]["decision"] = "maybe"
    with pytest.raises(DocumentError) as caught:
        emission.parse(document)
    assert caught.value.pointer == "/verdict/decision"
