"""Words for the parts of JSON Schema that our own schemas do not use, and for those only one of them does."""

import pytest
from jsonschema import Draft202012Validator

from registry.documents.keywords import VALIDATOR
from registry.documents.wording import expectation, faults_from


def faults(schema, document):
    Draft202012Validator.check_schema(schema)
    return [fault for error in VALIDATOR(schema).iter_errors(document) for fault in faults_from(error)]


@pytest.mark.parametrize(
    ("schema", "document", "message"),
    [
        ({"minimum": 0}, -1, "the number -1; expected a number from 0"),
        ({"maximum": 3}, 4, "the number 4; expected a number up to 3"),
        ({"exclusiveMinimum": 0}, 0, "the number 0; expected a number above 0"),
        ({"exclusiveMaximum": 0}, 0, "the number 0; expected a number below 0"),
        ({"minItems": 1}, [], "an empty list; expected at least 1 item"),
        ({"maxItems": 1}, [1, 2], "a list of 2; expected at most 1 item"),
        ({"minLength": 2}, "x", "text of 1 characters; expected at least 2 characters"),
        ({"minLength": 1}, "", "empty text; expected at least 1 character"),
        ({"maxLength": 2}, "xxx", "text of 3 characters; expected at most 2 characters"),
        ({"minProperties": 1}, {}, "an object of 0 keys; expected at least 1 key"),
        ({"maxProperties": 0}, {"a": 1}, "an object of 1 keys; expected at most 0 keys"),
        ({"uniqueItems": True, "title": "a set"}, [1, 1], "a list of 2 is not what is expected here; expected a set"),
        ({"type": ["array", "null"]}, 1, "the number 1; expected a list or null"),
        ({"pattern": "^a$"}, "a\n", 'the text "a\\n" is not of the expected form'),
    ],
)
def test_each_keyword_has_its_words(schema, document, message):
    assert [fault.message for fault in faults(schema, document)] == [message]


def test_of_several_alternatives_the_one_that_was_meant_is_explained():
    point = {"type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}}}
    schema = {"anyOf": [{"type": "string"}, point]}
    (fault,) = faults(schema, {"x": "1"})
    assert (fault.pointer, fault.message) == ("/x", 'the text "1"; expected a whole number')


def test_keys_are_checked_against_patterns_and_schemas_of_keys():
    schema = {
        "type": "object",
        "patternProperties": {"^x-": {}},
        "additionalProperties": {"type": "integer"},
        "propertyNames": {"title": "a short key", "maxLength": 3},
    }
    found = [(fault.pointer, fault.message) for fault in faults(schema, {"x-a": "free", "b": "no", "long": 1})]
    assert sorted(found) == [
        ("/b", 'the text "no"; expected a whole number'),
        ("/long", 'the key "long" is not a short key'),
    ]


def test_an_object_without_keys_of_its_own_says_so():
    (fault,) = faults({"type": "object", "additionalProperties": False}, {"a": 1})
    assert fault.hint == "no keys are known here"


def test_long_lists_of_choices_are_cut():
    words = expectation({"enum": [f"choice{number}" for number in range(100)]})
    assert words.endswith('"choice29" or 70 more')


def test_a_schema_without_expectations_has_no_words():
    assert expectation({}) == ""
    assert expectation(schema=True) == ""
