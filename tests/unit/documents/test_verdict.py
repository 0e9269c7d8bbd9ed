from dataclasses import replace
from types import MappingProxyType

import pytest
from fakes.sample_documents import TAPS, verdict_document

from registry.documents import verdict
from registry.documents.canonical import canonical_bytes
from registry.documents.faults import DocumentError
from registry.domain.findings import Evidence, Finding, Remedy, Severity
from registry.domain.reading import Outcome
from registry.domain.taps import at_depths


def test_a_verdict_comes_back_as_written_and_its_bytes_are_canonical():
    parsed = verdict.parse(verdict_document())
    assert parsed.trained_taps == at_depths((3, 31, 59))
    assert parsed.findings[0].remedies == (Remedy.CONFIG, Remedy.ENGINE)
    assert verdict.render(parsed) == verdict_document()
    assert verdict.verdict_bytes(parsed) == canonical_bytes(verdict_document())
    assert verdict.parse(verdict.verdict_bytes(parsed)) == parsed


def test_the_keys_are_exactly_those_of_the_contract_even_where_nothing_is_known():
    unknown = replace(
        verdict.parse(verdict_document()), runner=None, trained_taps=None, effective_taps=None, retrain_cost=None,
        profile=None, findings=(), outcome=Outcome.UNKNOWN,
    )  # fmt: skip
    document = verdict.render(unknown)
    assert document.keys() == verdict_document().keys()
    nulls = {key for key, value in document.items() if value is None}
    assert nulls == {"runner", "trained_taps", "effective_taps", "retrain_cost", "profile"}
    assert verdict.parse(document) == unknown


def test_evidence_of_any_shape_is_made_plain_and_the_missing_fact_stays_inside():
    value = MappingProxyType({"ids": (3, 31), "kind": Severity.INFO})
    finding = Finding(
        code="TAP101", severity=Severity.ERROR, message="m", at="",
        evidence=(Evidence(fact="f", value=value, source="s", grade="measured"),), unknown="taps",
    )  # fmt: skip
    document = verdict.render(replace(verdict.parse(verdict_document()), findings=(finding,)))
    (rendered,) = document["findings"]
    assert rendered["evidence"][0]["value"] == {"ids": [3, 31], "kind": "info"}
    assert rendered.keys() == {"code", "severity", "remedies", "message", "at", "evidence", "suggested"}
    assert rendered["suggested"] is None
    assert verdict.render(verdict.parse(document)) == document


def test_effective_taps_may_be_empty_and_out_of_the_ordinary():
    odd = [{"depth": -2, "stream": "branch", "norm": "final"}]
    document = {**verdict_document(), "effective_taps": {"prefill": [], "decode": odd}}
    assert verdict.render(verdict.parse(document)) == document


@pytest.mark.parametrize(
    ("key", "value", "pointer"),
    [
        ("decision", "fail", "/decision"),
        ("remedy", None, "/remedy"),
        ("outcome", "ok", "/outcome"),
        ("effective_taps", {"prefill": TAPS}, "/effective_taps/decode"),
        ("trained_taps", [{"depth": 1}], "/trained_taps/0/norm"),
        ("findings", None, "/findings"),
        ("time", "now", "/time"),
    ],
)
def test_a_bad_part_is_pointed_at(key, value, pointer):
    with pytest.raises(DocumentError) as caught:
        verdict.parse({**verdict_document(), key: value})
    assert pointer in {fault.pointer for fault in caught.value.faults}
