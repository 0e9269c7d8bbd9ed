import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.api import problems
from registry.documents.faults import DocumentError, Fault
from registry.domain import errors
from registry.domain.differences import Difference, FactsDiffer
from registry.domain.findings import Finding, Severity
from registry.services.refusals import RegistrationRefused


def body(response):
    return json.loads(response.body)


def every_error():
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.RegistryError)]


@pytest.mark.parametrize("kind", [kind for kind in every_error() if kind is not errors.RegistryError])
def test_every_error_class_has_its_row(kind):
    status, word = problems.PROBLEMS[kind]
    made = problems.of_error(kind("what is wrong", hint="what to do"))
    assert (made.status_code, made.media_type) == (status, problems.MEDIA_TYPE)
    found = body(made)
    assert found["type"] == f"urn:roost:problem:{word}"
    assert (found["title"], found["detail"], found["hint"]) == (kind().title, "what is wrong", "what to do")


def test_types_are_told_apart():
    words = [word for _, word in problems.PROBLEMS.values()]
    assert len(set(words)) == len(words)


def test_a_subclass_has_the_row_of_its_parent_and_its_own_members():
    found = body(problems.of_error(FactsDiffer("x", difference=(Difference(pointer="/a", registered=1, given=None),))))
    assert found["type"] == "urn:roost:problem:conflict"
    assert found["difference"] == [{"pointer": "/a", "registered": 1, "given": None}]


def test_findings_are_those_of_verdicts():
    finding = Finding(code="ART101", severity=Severity.ERROR, message="m", at="/files/a")
    (shown,) = body(problems.of_error(RegistrationRefused("x", findings=(finding,))))["findings"]
    assert (shown["code"], shown["severity"], shown["at"]) == ("ART101", "error", "/files/a")


def test_every_fault_of_a_document_is_listed():
    error = DocumentError("proposal", [Fault(pointer="/b", message="2"), Fault(pointer="/a", message="1", hint="h")])
    assert body(problems.of_error(error))["errors"] == [
        {"pointer": "/a", "message": "1", "hint": "h"},
        {"pointer": "/b", "message": "2", "hint": ""},
    ]


def test_a_pointer_is_listed_like_a_fault():
    found = body(problems.of_error(errors.NotFound("gone", hint="h", pointer="/checkpoint")))
    assert found["errors"] == [{"pointer": "/checkpoint", "message": "gone", "hint": "h"}]


@given(st.text())
def test_saying_an_error_never_fails_whatever_it_says(text):
    assert body(problems.of_error(errors.Invalid(text or "x")))["detail"] == (text or "x")


def test_half_a_surrogate_pair_can_be_said():
    assert body(problems.of_error(errors.Invalid("\ud800")))["detail"] == "\ud800"
