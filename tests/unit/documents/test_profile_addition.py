"""Additions of engine profiles: what is left out has its default, and every fault of the profile has its place."""

import pytest
from fakes import sample_documents

from registry.documents import engine_profile, profile_addition
from registry.documents.faults import DocumentError
from registry.domain.profile import Probe


def document(**changes):
    made = {**sample_documents.engine_profile_addition_document(), **changes}
    return {key: value for key, value in made.items() if value is not None}


def test_an_addition_is_read_whole():
    found = profile_addition.parse(document(origin="node"))
    assert (found.origin, found.source_digest) == ("node", sample_documents.SHA)
    assert engine_profile.render(found.profile) == sample_documents.engine_profile_document()
    probes = found.profile.targets["KimiK25ForConditionalGeneration"].probes
    assert probes[0] == Probe(ids=None, layers=61, depths=(2, 30, 58))
    assert probes[2].asked == (0, 3, 31)


def test_somebody_added_it_unless_it_says_otherwise():
    found = profile_addition.parse(document(origin=None, source_digest=None, schema=None))
    assert (found.origin, found.source_digest) == ("added", None)


def faults_of(sent):
    with pytest.raises(DocumentError) as caught:
        profile_addition.parse(sent)
    return {fault.pointer: fault.message for fault in caught.value.faults}


def test_every_fault_of_the_profile_is_named_where_it_is():
    profile = sample_documents.engine_profile_document()
    facts = profile["targets"]["KimiK25ForConditionalGeneration"]
    facts["dialect"] = "plus_two"
    facts["probes"][0]["layers"] = 0
    del profile["graphs"]
    found = faults_of(document(profile=profile, reason="", origin="shipped"))
    at = "/profile/targets/KimiK25ForConditionalGeneration"
    assert set(found) == {f"{at}/dialect", f"{at}/probes/0/layers", "/profile/graphs", "/reason", "/origin"}
    assert '"plus_one"' in found[f"{at}/dialect"]


def test_a_profile_alone_is_no_addition():
    assert set(faults_of(sample_documents.engine_profile_document())) == {"/schema"}
