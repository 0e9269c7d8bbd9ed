import pytest
from fakes.sample_documents import SHA, target_document

from registry.documents import target
from registry.documents.faults import DocumentError


def test_the_facts_of_a_target_are_read_from_its_config_and_not_repeated():
    parsed = target.parse(target_document())
    assert parsed.target.target_class == "KimiK25ForConditionalGeneration"
    assert (parsed.target.layers, parsed.target.hidden_size, parsed.target.dense) == (61, 7168, False)
    assert target.render(parsed.target, parsed.config) == target_document()


def test_digests_come_back_and_absent_ones_stay_absent():
    document = {**target_document(), "digest": SHA, "tokenizer_digest": SHA, "chat_template_digest": SHA}
    parsed = target.parse(document)
    assert target.render(parsed.target, parsed.config) == document
    smallest = {"schema": "roost.target/1", "name": "x", "config": {}}
    parsed = target.parse(smallest)
    assert parsed.target.layers is None
    assert target.render(parsed.target, parsed.config) == smallest


def test_a_config_may_hold_anything_that_json_can_carry():
    odd = {"": {"a/b": [None, True, 1.5, "line\nbreak\t"]}, "schema": 1}
    assert target.parse({**target_document(), "config": odd}).config == odd


@pytest.mark.parametrize("config", [None, [], "{}", 3])
def test_a_config_is_an_object(config):
    with pytest.raises(DocumentError, match=r"expected the model's config\.json, an object"):
        target.parse({**target_document(), "config": config})


def test_a_control_character_deep_inside_a_config_is_refused_at_its_place():
    with pytest.raises(DocumentError) as caught:
        target.parse({**target_document(), "config": {"a": ["ok", "\x00"]}})
    assert caught.value.pointer == "/config/a/1"
