"""The faults of a document in words: what every kind shares."""

import json
import subprocess
import sys

import pytest
from fakes.sample_documents import SAMPLES, proposal_document, provenance_document, verdict_document
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents import (
    checkpoint,
    emission,
    engine_diff,
    lock,
    matrix,
    profile_addition,
    proposal,
    provenance,
    requests,
    target,
    verdict,
)
from registry.documents.faults import MOST_FAULTS, DocumentError
from registry.documents.validation import faults_of, validated
from registry.domain.errors import NotFound

PARSERS = {
    "provenance": provenance.parse,
    "target": target.parse,
    "proposal": proposal.parse,
    "verdict": verdict.parse,
    "lock": lock.parse,
    "checkpoint": checkpoint.parse,
    "emission": emission.parse,
    "registration": requests.parse_registration,
    "amendment": requests.parse_amendment,
    "emission-request": requests.parse_emission_request,
    "engine-profile-addition": profile_addition.parse,
    "matrix": matrix.parse,
    "matrix-request": matrix.parse_request,
    "engine-diff": engine_diff.parse,
}

TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


def faults(kind, document):
    with pytest.raises(DocumentError) as caught:
        PARSERS[kind](document)
    assert caught.value.kind == kind
    return caught.value.faults


def by_pointer(kind, document):
    return {fault.pointer: fault for fault in faults(kind, document)}


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def replaced(document, path, value):
    if not path:
        return value
    node = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return document


def leads_somewhere(document, pointer):
    """Whether the pointer resolves, or its last part is a missing key of an object that is there."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    node = document
    for place, part in enumerate(parts):
        if isinstance(node, list):
            node = node[int(part)]
        elif part in node:
            node = node[part]
        else:
            return place == len(parts) - 1
    return True


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_sample_of_each_kind_is_valid_as_bytes_and_as_object(kind):
    document = SAMPLES[kind]()
    assert PARSERS[kind](json.dumps(document).encode()) == PARSERS[kind](document)


@pytest.mark.parametrize("kind", SAMPLES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_document_with_anything_at_any_place_gives_a_record_or_faults_that_lead_somewhere(kind, data):
    document = SAMPLES[kind]()
    path = data.draw(st.sampled_from(list(places(document))))
    document = replaced(document, path, data.draw(JSON))
    text = json.dumps(document, allow_nan=True).encode()
    try:
        PARSERS[kind](text)
    except DocumentError as error:
        readable = json.loads(text)
        odd = "\\u"  # places under keys with control characters are spelled, not pointed at
        assert all(leads_somewhere(readable, f.pointer) for f in error.faults if odd not in f.pointer)  # noqa: PT017


@pytest.mark.parametrize("kind", SAMPLES)
@given(data=st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
@settings(max_examples=40, deadline=None)
def test_no_bytes_make_anything_but_a_document_error(kind, data):
    assert faults(kind, data)


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("depth", [70, 3000, 100_000])
def test_deep_nesting_is_a_fault_in_every_kind(kind, depth):
    for data in (b"[" * depth + b"]" * depth, b'{"config":' * depth + b"1" + b"}" * depth):
        assert any("nested deeper" in fault.message for fault in faults(kind, data))


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_required_key_is_named_when_the_document_is_empty(kind):
    found = by_pointer(kind, b"{}")
    published = set(json.loads(json.dumps(list(SAMPLES[kind]()))))
    assert found
    for pointer, fault in found.items():
        assert pointer.removeprefix("/") in published
        assert fault.message.startswith("is missing; expected ")


def test_all_faults_come_at_once_with_repeated_keys_and_schema_faults_together():
    found = by_pointer("proposal", b'{"schema":"roost.proposal/1","engine":"sglang","engine":"sglang","runer":"v3"}')
    assert found.keys() == {"/checkpoint", "/engine", "/runer"}


def test_a_value_that_cannot_be_read_is_one_fault_and_not_two():
    (fault,) = faults("proposal", b'{"schema":"roost.proposal/1","checkpoint":"a","engine":"e==1","launch":1e999}')
    assert (fault.pointer, fault.message) == ("/launch", "the number 1e999 is beyond every double")


def test_an_unknown_key_names_the_nearest_one():
    document = {**proposal_document(), "draft-config": {}, "zzz": 1}
    found = by_pointer("proposal", document)
    assert found["/draft-config"].hint == "did you mean 'draft_config'?"
    assert found["/zzz"].hint == "the keys here are schema, checkpoint, engine, target, runner, draft_config, launch"


def test_an_enum_lists_what_is_allowed():
    found = by_pointer("proposal", {**proposal_document(), "runner": "V2"})
    assert found["/runner"].message == 'the text "V2"; expected "v1", "v2" or null'
    assert found["/runner"].hint == "did you mean 'v2'?"


def test_a_wrong_type_says_what_is_there_and_what_is_expected():
    document = {**proposal_document(), "draft_config": [1], "launch": 3, "checkpoint": None}
    found = by_pointer("proposal", document)
    assert found["/draft_config"].message == ("a list of 1; expected the draft model's config.json, an object, or null")
    assert found["/launch"].message.startswith("the number 3; expected launch options")
    assert found["/checkpoint"].message.startswith("null; expected a checkpoint: NAME, or NAME@N")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("checkpoint", "kimi@0", "a checkpoint: NAME, or NAME@N"),
        ("checkpoint", "a/../b", "a checkpoint: NAME, or NAME@N"),
        ("checkpoint", "kimi\n", "a checkpoint: NAME, or NAME@N"),
        ("checkpoint", "..@1", "a checkpoint: NAME, or NAME@N"),
        ("engine", "sglang=0.5.9", "an engine build: ENGINE==VERSION"),
        ("engine", "sglang==0.5.9\n", "an engine build: ENGINE==VERSION"),
        ("target", "a//b", "a name: letters, digits"),
    ],
)
def test_a_pattern_is_explained_in_words(key, value, words):
    (fault,) = faults("proposal", {**proposal_document(), key: value})
    assert fault.pointer == f"/{key}"
    assert f"is not {words}" in fault.message
    assert "^" not in fault.message


def test_a_document_of_another_kind_is_recognized_and_nothing_else_is_said():
    (fault,) = faults("provenance", proposal_document())
    assert (fault.pointer, fault.hint) == ("/schema", "this is a document of kind proposal")


def test_a_newer_version_of_the_kind_is_one_fault_among_the_others():
    found = by_pointer("proposal", {**proposal_document(), "schema": "roost.proposal/2", "odd": 1})
    assert found["/schema"].message == 'the text "roost.proposal/2"; expected "roost.proposal/1"'
    assert "/odd" in found


def test_faults_deep_inside_are_pointed_at_and_ordered():
    document = verdict_document()
    document["findings"][1]["code"] = "tap1"
    document["findings"][0]["evidence"][0].pop("grade")
    document["trained_taps"][2]["norm"] = "last"
    found = faults("verdict", document)
    assert [fault.pointer for fault in found] == [
        "/findings/0/evidence/0/grade",
        "/findings/1/code",
        "/trained_taps/2/norm",
    ]


def test_a_flood_is_answered_in_bounded_work():
    document = provenance_document()
    document["capture"]["layers"] = ["x"] * 200_000
    document.update({f"key{number}": 1 for number in range(50_000)})
    document["grades"] = {f"k{number}": "x" for number in range(50_000)}
    found = faults("provenance", document)
    assert len(found) == MOST_FAULTS
    layers = [fault for fault in found if fault.pointer.startswith("/capture/layers")]
    assert [fault.message for fault in layers] == ["a list of 200000; expected at most 128 items"]


def test_text_that_is_too_long_is_one_fault():
    (fault,) = faults("proposal", {**proposal_document(), "checkpoint": "/" * 1_000_000})
    assert fault.message == "text of 1000000 characters; expected at most 210 characters"


def test_long_hostile_keys_do_not_reach_the_matching_of_names():
    (fault,) = faults("proposal", {**proposal_document(), "x" * 100_000: 1})
    assert fault.message == "is not a known key"


def test_what_comes_back_is_a_copy():
    document = proposal_document()
    result = validated("proposal", document)
    assert result == document
    assert result["draft_config"] is not document["draft_config"]


def test_further_checks_run_on_documents_that_the_schema_accepts_only():
    calls = []
    validated("proposal", proposal_document(), further=lambda document: calls.append(document) or ())
    with pytest.raises(DocumentError):
        validated("proposal", {}, further=lambda document: calls.append(document) or ())
    assert len(calls) == 1


def test_a_kind_without_a_schema_is_not_found():
    with pytest.raises(NotFound, match="nothing"):
        faults_of("nothing", {})


def test_importing_every_kind_leaves_jsonschema_out():
    script = (
        "import sys; from registry.documents import "
        "checkpoint, emission, lock, proposal, provenance, requests, target, validation, verdict; "
        "sys.exit('jsonschema' in sys.modules or 'referencing' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
