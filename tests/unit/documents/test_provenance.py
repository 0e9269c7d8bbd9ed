import json

import pytest
from fakes.sample_documents import SHA, provenance_document, smallest_provenance
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents import provenance
from registry.documents.canonical import canonical_bytes, parse_json
from registry.documents.faults import DocumentError
from registry.domain.provenance import Grade, VerifierState

DIGESTS = st.sampled_from([SHA, "blake3:" + "0" * 64])
LINES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30)
COUNTS = st.integers(0, 2**53 - 1)
AMOUNTS = st.floats(0, allow_nan=False, allow_infinity=False)
NAMES = st.from_regex(r"\A[A-Za-z0-9]+(/[A-Za-z0-9_-]+){0,2}\Z")
LAYERS = st.integers(0, 200)


def section(required=None, **optional):
    filled = st.fixed_dictionaries(required or {}, optional=optional)
    return filled if required else filled.filter(bool)


STATES = st.just("separate") | st.fixed_dictionaries({"layer": LAYERS, "norm": st.sampled_from(["none", "final"])})
DOCUMENTS = section(
    {
        "schema": st.just("roost.provenance/1"),
        "target": section({"name": NAMES}, revision=st.just("abc123"), digest=DIGESTS),
        "capture": section(
            {
                "tool": LINES,
                "counting": st.sampled_from(["before_layer", "after_layer", "sglang==0.5.9", "vllm==0.11.2"]),
                "layers": st.lists(LAYERS, min_size=1, max_size=128),
                "stream": st.sampled_from(["residual", "branch"]),
            },
            version=LINES, source=st.just("dump.patch"), source_digest=st.just(SHA), verifier_state=STATES,
        ),
        "standardization": section({"name": LINES}, tool=LINES, version=LINES),
    },
    tokenizer_digest=DIGESTS,
    chat_template_digest=DIGESTS,
    training=section(
        trainer=LINES, version=LINES, commit=LINES, max_length=COUNTS, rope_theta=AMOUNTS, steps=COUNTS,
        draft_depth=COUNTS, cost_usd=AMOUNTS,
    ),
    data=section(samples=COUNTS, tokens=COUNTS, cost_usd=AMOUNTS, digest=DIGESTS),
    semantics=section(
        norm_before_fc=st.booleans(), fc_norm=st.booleans(), norm_output=st.booleans(),
        norm_before_residual=st.booleans(), embedding=st.sampled_from(["own", "target"]),
        head=st.sampled_from(["own", "target"]),
    ),
    grades=st.dictionaries(
        st.sampled_from(["/capture/layers", "/capture/counting", "/target/name", "/standardization"]),
        st.sampled_from(["declared", "derived", "measured"]), min_size=1,
    ),
)  # fmt: skip


def pointers(document):
    with pytest.raises(DocumentError) as caught:
        provenance.parse(document)
    return {fault.pointer: fault for fault in caught.value.faults}


@given(DOCUMENTS)
@settings(deadline=None)
def test_what_is_given_comes_back_and_what_is_absent_stays_absent(document):
    record = provenance.parse(canonical_bytes(document))
    assert provenance.render(record) == document
    assert canonical_bytes(provenance.render(record)) == canonical_bytes(document)
    assert provenance.parse(provenance.render(record)) == record


def test_the_founding_record_is_read_as_written():
    record = provenance.parse(json.dumps(provenance_document()).encode())
    assert record.capture.layers == (3, 31, 59)
    assert record.capture.verifier_state == VerifierState(layer=61, norm="none")
    assert record.training.rope_theta == 50000.0
    assert record.data.cost_usd == 86.0
    assert provenance.render(record) == provenance_document()


def test_only_stream_and_norm_are_spelled_out_when_they_were_left_out():
    document = smallest_provenance()
    document["capture"].update(verifier_state={"layer": 60})
    del document["capture"]["stream"]
    rendered = provenance.render(provenance.parse(document))
    assert rendered["capture"].pop("stream") == "residual"
    assert rendered["capture"]["verifier_state"].pop("norm") == "none"
    assert rendered == document


def test_every_required_fact_is_asked_for_by_name():
    assert pointers({"schema": "roost.provenance/1", "target": {}, "capture": {}, "standardization": {}}).keys() == {
        "/target/name", "/capture/tool", "/capture/counting", "/capture/layers", "/standardization/name",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/capture/counting", "afterlayer"),
        ("/capture/counting", "sglang 0.5.9"),
        ("/capture/layers", []),
        ("/capture/layers", [1] * 129),
        ("/capture/layers", "3,31,59"),
        ("/capture/verifier_state", "seperate"),
        ("/capture/verifier_state", 61),
        ("/capture/source", "../dump.patch"),
        ("/capture/source", "/etc/passwd"),
        ("/capture/source", ".."),
        ("/capture/source", "."),
        ("/capture/source", "a\\b"),
        ("/capture/source", "a\u0000b"),
        ("/capture/source", "a\nb"),
        ("/capture/source", ""),
        ("/capture/tool", ""),
        ("/capture/tool", "two\nlines"),
        ("/capture/stream", "Residual stream"),
        ("/target/name", "a/../b"),
        ("/target/digest", "sha256:ABC"),
        ("/training/steps", -1),
        ("/training/steps", 2.5),
        ("/training/rope_theta", -0.5),
        ("/training/rope_theta", float("nan")),
        ("/data/cost_usd", float("inf")),
        ("/data/samples", True),
        ("/data/samples", 10**40),
        ("/semantics/head", "shared"),
        ("/semantics/fc_norm", "yes"),
        ("/semantics/norm", True),
    ],
)
def test_a_bad_fact_is_one_fault_at_its_place(path, value):
    document = {**provenance_document(), "semantics": {"norm_output": True}}
    _, part, key = path.split("/")
    document[part][key] = value
    assert path in pointers(document)


def test_a_wrong_layer_is_pointed_at_by_its_number():
    document = provenance_document()
    document["capture"]["layers"] = [3, "31", True, 59.0]
    found = pointers(document)
    assert found.keys() == {"/capture/layers/1", "/capture/layers/2"}
    assert found["/capture/layers/1"].message == 'the text "31"; expected a whole number'


@pytest.mark.parametrize(("counting", "lowest"), [("before_layer", 0), ("after_layer", -1)])
def test_plain_counting_has_nothing_below_the_embedding(counting, lowest):
    document = provenance_document()
    document["capture"].update(counting=counting, layers=[lowest, 2], verifier_state={"layer": lowest})
    assert provenance.parse(document).capture.layers == (lowest, 2)
    document["capture"].update(layers=[lowest - 1, 2], verifier_state={"layer": lowest - 1})
    found = pointers(document)
    assert found.keys() == {"/capture/layers/0", "/capture/verifier_state/layer"}
    assert "the embedding output" in found["/capture/layers/0"].message


def test_negative_ids_of_an_engine_dialect_are_taken():
    document = provenance_document()
    document["capture"].update(counting="sglang==0.5.9", layers=[-1, 2, 30])
    assert provenance.parse(document).capture.layers == (-1, 2, 30)


def test_grades_belong_to_facts_that_are_given():
    document = {**provenance_document(), "grades": {"/capture/layers": "derived", "/capture/layers/2": "measured"}}
    record = provenance.parse(document)
    assert record.grade("/capture/layers") is Grade.DERIVED
    assert record.grade("/target/name") is Grade.DECLARED
    bad = ["/capture/layer", "/capture/layers/3", "/capture/layers/x", "/capture/tool/x", "/schema", "/grades/x"]
    found = pointers({**document, "grades": dict.fromkeys(bad, "derived")})
    assert len(found) == len(bad)
    assert "leads to no fact" in found["/grades/~1capture~1layer"].message


def test_grades_have_known_names_and_pointers_for_keys():
    found = pointers({**provenance_document(), "grades": {"capture": "derived", "/target": "sure"}})
    assert "is not a JSON Pointer" in found["/grades/capture"].message
    assert '"declared", "derived" or "measured"' in found["/grades/~1target"].message


def test_canonical_bytes_of_equal_records_are_equal_whatever_the_spelling():
    loose = json.dumps(provenance_document(), indent=4).replace("50000.0", "5e4").encode()
    document = provenance.render(provenance.parse(loose))
    assert canonical_bytes(document) == canonical_bytes(provenance_document())
    assert parse_json(canonical_bytes(document)) == provenance_document()
