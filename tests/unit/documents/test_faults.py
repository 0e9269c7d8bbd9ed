import pytest

from registry.documents.faults import MOST_FAULTS, DocumentError, Fault, escape, in_order, moved, show
from registry.domain.errors import Invalid


def test_an_error_carries_every_fault_once_ordered_by_place_with_numbers_as_numbers():
    pointers = ["/b/10", "/b/2", "/a", "", "/b/2"]
    error = DocumentError("target", [Fault(pointer=pointer, message="odd") for pointer in pointers])
    assert [fault.pointer for fault in error.faults] == ["", "/a", "/b/2", "/b/10"]
    assert isinstance(error, Invalid)
    assert error.kind == "target"
    assert error.pointer == ""
    assert error.title == "The document is not what its kind must be"


def test_the_text_of_an_error_holds_every_place_message_and_hint():
    faults = [Fault(pointer="/a", message="is odd", hint="make it even"), Fault(pointer="", message="is bad")]
    text = str(DocumentError("lock", faults))
    assert text == "not a valid lock document: 2 faults: the document: is bad; /a: is odd (make it even)"


def test_no_more_than_the_listed_number_is_kept():
    assert len(in_order(Fault(pointer=f"/{place}", message="odd") for place in range(1000))) == MOST_FAULTS


def test_faults_of_a_part_move_with_it():
    (fault,) = moved([Fault(pointer="/a", message="odd", hint="h")], "/part")
    assert fault == Fault(pointer="/part/a", message="odd", hint="h")


def test_a_segment_is_escaped_as_rfc_6901_says():
    assert escape("a/b~c") == "a~1b~0c"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (3, "the number 3"),
        (2.5, "the number 2.5"),
        ("", "empty text"),
        ("a\x1bb", 'the text "a\\u001bb"'),
        ([], "an empty list"),
        ([1, 2], "a list of 2"),
        ({}, "an object"),
    ],
)
def test_values_are_described_in_words_and_never_as_control_characters(value, words):
    assert show(value) == words


def test_long_text_is_cut():
    assert len(show("x" * 10_000)) < 80
