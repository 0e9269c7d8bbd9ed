import pytest
from fakes.sample_documents import (
    OTHER_SHA,
    amendment_document,
    emission_request_document,
    registration_document,
)

from registry.documents import requests
from registry.documents.faults import DocumentError


def faults(parse, document):
    with pytest.raises(DocumentError) as caught:
        parse(document)
    return {fault.pointer for fault in caught.value.faults}


def test_a_registration_is_read():
    parsed = requests.parse_registration(registration_document())
    assert parsed.name == "moonshotai/Kimi-K2.5-eagle3"
    assert parsed.files[0].name == "model.safetensors"
    assert parsed.sources[0].sha256 == OTHER_SHA
    assert parsed.provenance.capture.tool == "sglang-dump-patch"


def test_a_registration_needs_no_sources_but_files():
    document = registration_document()
    del document["sources"]
    assert requests.parse_registration(document).sources == ()
    assert faults(requests.parse_registration, {**document, "files": []}) == {"/files"}


def test_a_registered_name_has_no_version_and_no_file_leaves_the_directory():
    document = {**registration_document(), "name": "kimi@1"}
    document["files"][0]["name"] = "../x"
    assert faults(requests.parse_registration, document) == {"/name", "/files/0/name"}


def test_faults_of_the_provenance_inside_are_pointed_at_from_the_outside():
    document = registration_document()
    document["provenance"]["capture"]["layers"] = [-1]
    document["files"] *= 2
    expected = {"/provenance/capture/layers/0", "/files/1/name"}
    assert faults(requests.parse_registration, document) == expected


def test_an_amendment_is_read_with_or_without_its_schema_and_expectation():
    parsed = requests.parse_amendment(amendment_document())
    assert (parsed.expected_revision, parsed.reason) == (1, "the dump never held the embedding")
    document = amendment_document()
    del document["schema"], document["expected_revision"]
    assert requests.parse_amendment(document).expected_revision is None


@pytest.mark.parametrize(("key", "value"), [("reason", ""), ("expected_revision", 0), ("provenance", None)])
def test_an_amendment_gives_a_reason_and_a_record(key, value):
    assert faults(requests.parse_amendment, {**amendment_document(), key: value}) == {f"/{key}"}


def test_an_emission_request_is_read():
    parsed = requests.parse_emission_request(emission_request_document())
    assert (str(parsed.checkpoint), str(parsed.build)) == ("moonshotai/Kimi-K2.5-eagle3@1", "vllm==0.33.0")
    assert (parsed.runner, parsed.target) == ("v2", None)
