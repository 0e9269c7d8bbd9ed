"""The law: what is spelled reads back as the trained taps in every phase, or there is a stated refusal."""

from fakes.profiles import NESTED, TOP, config, draft_facts, inventory, profile, situation, target_facts
from hypothesis import given
from hypothesis import strategies as st

from registry.domain.dialects import READERS
from registry.domain.taps import at_depths, depths_of
from registry.engines.emit import emission_config
from registry.engines.engine import engine, engines
from registry.engines.reader import read
from registry.engines.spelling import NoSpelling, Spelling, spell_taps

layer_counts = st.integers(min_value=1, max_value=128)


@st.composite
def tap_lists(draw, layers):
    count = draw(st.integers(min_value=1, max_value=min(6, layers + 1)))
    return tuple(draw(st.lists(st.integers(0, layers), min_size=count, max_size=count)))


@given(
    st.data(), layer_counts, st.sampled_from(sorted(READERS)), st.booleans(), st.sampled_from(["captured", "dropped"])
)
def test_what_is_spelled_reads_back_or_is_refused_with_a_reason(data, layers, dialect, ids_hold, depth_n):
    depths = data.draw(tap_lists(layers))
    made = profile(facts=target_facts(dialect=dialect, depth_n=depth_n), ids_hold=ids_hold)
    where = situation(made, config(), layers=layers, inventory=inventory(taps=len(depths)))
    trained = at_depths(depths)
    spelled = spell_taps(engine("sglang"), where, trained)
    if isinstance(spelled, NoSpelling):
        assert spelled.reason
        return
    assert spelled.reading.taps.prefill == spelled.reading.taps.decode == trained
    assert depths == tuple(sorted(set(depths))), "only ascending taps, each once, can be captured"


@given(st.data(), layer_counts, st.sampled_from(sorted(READERS)), st.sampled_from(sorted(engines())))
def test_ascending_inner_taps_are_refused_only_where_the_dialect_cannot_say_them(data, layers, dialect, name):
    depths = data.draw(st.sets(st.integers(0, layers - 1), min_size=1, max_size=5).map(sorted).map(tuple))
    key = NESTED if name == "sglang" else TOP
    made = profile(engine=name, facts=target_facts(dialect=dialect), keys=((key, "identity"),))
    where = situation(made, config(), layers=layers, inventory=inventory(taps=len(depths)))
    spelled = spell_taps(engine(name), where, at_depths(depths))
    # The one list that cannot be said: a first-is-1 dialect and depth 1 alone.
    assert isinstance(spelled, Spelling) == (not (dialect == "first_is_one" and depths == (1,)))


def test_an_unsorted_list_can_be_the_only_spelling():
    made = profile(facts=target_facts(dialect="first_is_one"))
    spelled = spell_taps(engine("sglang"), situation(made, config()), at_depths((1, 29, 57)))
    assert spelled.ids == (29, 1, 57)
    assert depths_of(spelled.reading.taps.decode) == (1, 29, 57)


def test_another_order_than_ascending_is_refused_by_name():
    spelled = spell_taps(engine("sglang"), situation(), at_depths((59, 3, 31)))
    assert "ascending" in spelled.reason


def test_decode_graphs_that_keep_the_default_need_the_option():
    spelled = spell_taps(engine("sglang"), situation(profile(ids_hold=False)), at_depths((3, 31, 59)))
    assert spelled.options == ("--disable-cuda-graph",)


def test_default_taps_need_no_option_even_there():
    spelled = spell_taps(engine("sglang"), situation(profile(ids_hold=False)), at_depths((2, 30, 58)))
    assert spelled.options == ()


def test_emission_drops_what_a_build_would_misread():
    body = config(
        [2, 30, 58], auto_map={"AutoModel": "x--y"}, trust_remote_code=True, eagle_aux_hidden_state_layer_ids=[9]
    )
    emitted = emission_config(engine("sglang"), situation(made_config=body), at_depths((3, 31, 59)))
    assert emitted.config["eagle_config"] == {
        "eagle_aux_hidden_state_layer_ids": [2, 30, 58],
        "use_aux_hidden_state": True,
    }
    assert not {"auto_map", "trust_remote_code", "eagle_aux_hidden_state_layer_ids"} & set(emitted.config)


def test_emission_names_the_class_and_layer_count_that_the_tensors_call_for():
    body = config([2, 30, 58], architectures=["LlamaForCausalLM"], num_hidden_layers=40)
    emitted = emission_config(engine("sglang"), situation(made_config=body), at_depths((3, 31, 59)))
    assert emitted.config["architectures"] == ["LlamaForCausalLMEagle3"]
    assert emitted.config["num_hidden_layers"] == 1


def test_emission_refuses_tensors_that_fit_no_draft_class():
    made = profile(draft=draft_facts(architectures=("Other",), parameters=("other.weight",)))
    refused = emission_config(engine("sglang"), situation(made), at_depths((3, 31, 59)))
    assert isinstance(refused, NoSpelling)


def test_the_reading_of_an_emission_is_the_reading_of_its_config():
    where = situation()
    spelled = spell_taps(engine("sglang"), where, at_depths((3, 31, 59)))
    again = read(situation(made_config=spelled.config))
    assert again == spelled.reading
