import pytest
from fakes.sample_documents import OTHER_SHA, SHA, lock_document, provenance_document

from registry.documents import lock, proposal
from registry.documents.canonical import canonical_bytes
from registry.documents.faults import DocumentError


def faults(document):
    with pytest.raises(DocumentError) as caught:
        lock.parse(document)
    return {fault.pointer: fault for fault in caught.value.faults}


def test_a_lock_comes_back_as_written_and_its_bytes_are_canonical():
    parsed = lock.parse(lock_document())
    assert parsed.provenance.capture.layers == (3, 31, 59)
    assert parsed.target.target.layers == 61
    assert parsed.option_costs[0].option == "--disable-cuda-graph"
    assert lock.render(parsed) == lock_document()
    assert lock.lock_bytes(parsed) == canonical_bytes(lock_document())
    assert lock.parse(lock.lock_bytes(parsed)) == parsed


def test_a_proposal_that_was_changed_is_seen_by_its_digest():
    document = lock_document()
    document["proposal"]["launch"] = ""
    assert faults(document)["/proposal_digest"].hint == "the lock was changed after it was written"


def test_a_proposal_for_another_engine_is_seen():
    document = lock_document()
    document["proposal"]["engine"] = "vllm==0.33.0"
    document["proposal_digest"] = proposal.digest(proposal.parse(document["proposal"]))
    assert faults(document).keys() == {"/proposal/engine"}


def test_launch_options_that_were_not_judged_are_seen():
    document = lock_document()
    document["launch"].remove("--disable-cuda-graph")
    assert faults(document)["/launch"].hint == "the lock was changed after it was written"


def test_effective_taps_other_than_the_trained_ones_are_seen():
    document = lock_document()
    document["effective_taps"]["decode"] = document["effective_taps"]["decode"][:2]
    assert faults(document).keys() == {"/effective_taps/decode"}
    document = lock_document()
    document["trained_taps"][0]["depth"] = 4
    assert faults(document).keys() == {"/effective_taps/decode", "/effective_taps/prefill"}


def test_only_the_canonical_bytes_of_a_lock_are_a_lock():
    canonical = lock.lock_bytes(lock.parse(lock_document()))
    assert lock.parse_bytes(canonical) == lock.parse(lock_document())
    with pytest.raises(DocumentError, match="not the bytes that a registry writes"):
        lock.parse_bytes(canonical + b"\n")


def test_no_file_lies_in_what_is_a_file():
    document = lock_document()
    document["files"].append({"name": "config.json/x.safetensors", "size": 1, "sha256": OTHER_SHA})
    assert "'config.json', which is listed as a file" in faults(document)["/files/2/name"].message


@pytest.mark.parametrize(
    "name",
    ["", "/etc/passwd", "../x", "a/../b", "a/..", "..", ".", "./a", "a/./b", "a//b", "a/", "a\\b", "C:x", "a\nb", "a\n",
     "a\x00", "x" * 1025],
)  # fmt: skip
def test_no_file_name_leads_out_of_the_directory(name):
    document = lock_document()
    document["files"][0]["name"] = name
    assert "/files/0/name" in faults(document)


@pytest.mark.parametrize(
    "name", ["a", "config.json", ".hidden", "..a", "a..", "a/b/c.safetensors", "ünï code", "..a/b"]
)
def test_plain_relative_names_are_taken(name):
    document = lock_document()
    document["files"][0]["name"] = name
    assert lock.parse(document).files[0].name == name


def test_a_file_is_listed_once():
    document = lock_document()
    document["files"].append({"name": "config.json", "size": 1, "sha256": OTHER_SHA})
    assert faults(document)["/files/2/name"].message == "the file 'config.json' is listed twice"


def test_faults_of_the_documents_inside_are_pointed_at_from_the_outside():
    document = lock_document()
    document["provenance"]["document"] = provenance_document()
    document["provenance"]["document"]["capture"]["layers"] = [-5]
    assert "/provenance/document/capture/layers/0" in faults(document)
    document["target"]["digest"] = "md5:x"
    document["findings"][0]["severity"] = "fatal"
    assert faults(document).keys() == {"/target/digest", "/findings/0/severity"}


@pytest.mark.parametrize(
    ("key", "value"),
    [("decision", "block"), ("checkpoint", "kimi"), ("profile_digest", "blake3:" + "0" * 64), ("trained_taps", None),
     ("effective_taps", None), ("profile", None), ("files", {}), ("conversions", [{"what": "x"}])],
)  # fmt: skip
def test_a_bad_part_is_pointed_at(key, value):
    found = faults({**lock_document(), key: value})
    assert all(pointer.startswith(f"/{key}") for pointer in found)


def test_the_profile_is_always_named():
    document = lock_document()
    del document["profile_digest"]
    assert faults(document)["/profile_digest"].message.startswith("is missing")
    assert lock.parse({**lock_document(), "profile_digest": SHA}).profile_digest == SHA


def test_variables_come_back_as_written_and_an_empty_environment_is_left_out():
    document = lock_document() | {"environment": {"VLLM_USE_V2_MODEL_RUNNER": "0"}}
    document["proposal"]["launch"] = f"VLLM_USE_V2_MODEL_RUNNER=0 {document['proposal']['launch']}"
    document["proposal_digest"] = proposal.digest(proposal.parse(document["proposal"]))
    assert lock.render(lock.parse(document)) == document
    assert "environment" not in lock.render(lock.parse(lock_document() | {"environment": {}}))


@pytest.mark.parametrize(
    ("environment", "place"), [({"a b": "x"}, "/environment/a b"), ({"A": "x\ny"}, "/environment/A")]
)
def test_a_variable_that_a_shell_would_not_take_is_refused(environment, place):
    assert place in faults(lock_document() | {"environment": environment})


def test_a_launch_line_states_the_variables_before_the_options():
    line = lock.launch_line(("--a", "b c"), {"X": "1", "Y": "2 3"})
    assert line == "X=1 Y='2 3' --a 'b c'"
    assert lock.launch_line(("--a",), {}) == "--a"
