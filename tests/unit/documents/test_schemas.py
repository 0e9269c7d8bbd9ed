"""The published schemas are plain JSON Schema that any validator reads as ours does."""

import json

import pytest
from fakes.sample_documents import SAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from registry.documents import schemas
from registry.documents.schemas import whole_schema
from registry.documents.validation import faults_of
from registry.domain.digests import PATTERN
from registry.domain.refs import LONGEST_NAME, NAME_PATTERN
from registry.resources import schema_kinds, schema_text

MINE = sorted(SAMPLES)
FREE = {"config", "draft_config", "retrain_cost", "value", "items"}


def published(kind):
    return json.loads(schema_text(kind))


def stock_validator(kind):
    resources = [(f"{name}.schema.json", Resource.from_contents(published(name))) for name in schema_kinds()]
    return Draft202012Validator(published(kind), registry=Registry().with_resources(resources))


def objects(node, path=()):
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            yield from objects(value, (*path, key))
    elif isinstance(node, list):
        for place, value in enumerate(node):
            yield from objects(value, (*path, place))


@pytest.mark.parametrize("kind", MINE)
def test_each_schema_is_one_and_names_itself(kind):
    schema = published(kind)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"{kind}.schema.json"
    assert schema["properties"]["schema"] == {"const": f"roost.{kind}/1"}


@pytest.mark.parametrize("kind", MINE)
def test_every_object_is_closed_unless_it_is_a_documented_free_part(kind):
    for path, node in objects(published(kind)):
        is_object = node.get("type") == "object" or (isinstance(node.get("type"), list) and "object" in node["type"])
        if is_object and "additionalProperties" not in node:
            assert path[-1] in FREE, path
            assert {"description", "title"} & node.keys(), path


@pytest.mark.parametrize("kind", MINE)
def test_every_pattern_has_words_and_both_ends(kind):
    for path, node in objects(published(kind)):
        if isinstance(node.get("pattern"), str):
            assert isinstance(node.get("title"), str), path
            assert node["pattern"][0] == "^", path
            assert node["pattern"][-1] == "$", path


@pytest.mark.parametrize("kind", MINE)
def test_there_are_no_walls_of_alternatives_and_no_lists_without_end(kind):
    for path, node in objects(published(kind)):
        assert not {"oneOf", "anyOf", "not"} & node.keys(), path
        if "items" in node and "type" in node:
            assert "maxItems" in node, path


@pytest.mark.parametrize("kind", MINE)
def test_a_stock_validator_accepts_the_sample(kind):
    stock_validator(kind).validate(SAMPLES[kind]())


@pytest.mark.parametrize("kind", MINE)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_stock_validator_agrees_with_ours_on_damaged_samples(kind, data):
    document = SAMPLES[kind]()
    nodes = [node for _, node in objects(document) if node]
    node = data.draw(st.sampled_from(nodes))
    key = data.draw(st.sampled_from(sorted(node)))
    node[key] = data.draw(st.sampled_from([None, True, -1, 0, 2.5, "", "x", "a/b", "TAP101", [], {}, ["x"], {"x": 1}]))
    assert stock_validator(kind).is_valid(document) == (not faults_of(kind, document))


def test_names_and_digests_are_written_alike_in_schemas_and_in_the_domain():
    definitions = published("provenance")["$defs"]
    assert definitions["name"]["pattern"] == NAME_PATTERN
    assert definitions["name"]["maxLength"] == LONGEST_NAME
    assert definitions["digest"]["pattern"] == PATTERN
    assert published("proposal")["$defs"]["maybe_name"]["pattern"] == NAME_PATTERN


def test_a_whole_schema_holds_no_references():
    assert all("$ref" not in node for kind in MINE for _, node in objects(whole_schema(kind)))


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"$ref": "#/$defs/nothing"}, "leads nowhere"),
        ({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}, "into itself"),
        ({"$defs": {"a": {"type": "string"}}, "$ref": "#/$defs/a", "type": "null"}, "read differently"),
    ],
)
def test_references_that_cannot_be_made_whole_are_refused(schema, message, monkeypatch):
    monkeypatch.setattr(schemas, "_published", lambda _kind: schema)
    with pytest.raises(ValueError, match=message):
        whole_schema.__wrapped__("made-up")
