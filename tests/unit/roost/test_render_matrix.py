"""A matrix in a terminal: narrow, aligned, and nothing shown that nobody needs."""

from fakes.sample_documents import matrix_document, matrix_row

from registry.domain.matrix import TAKES as ALL
from roost.render_matrix import TAKES, builds_of, id_list, render
from roost.screen import Paint

FORK = {"first": "0.5.9+ours", "last": "0.5.9+ours", "upstream": "0.5.9"}


def lines(*rows, **changes):
    return render({**matrix_document(), "rows": list(rows), **changes}).splitlines()


def test_the_table_is_aligned_and_fits():
    text = render(matrix_document())
    head, *rows = text.split("\n\n")[1].splitlines()
    assert head.split() == ["BUILDS", "PROPOSED", "TAKES", "IDS", "OPTIONS"]
    assert {row[head.index("TAKES") :].split("  ")[0] for row in rows} == {"engine", "ids", "config"}
    assert max(map(len, text.splitlines())) <= 100


def test_columns_without_content_are_left_out():
    assert "OPTIONS" not in "".join(lines(matrix_row()))
    assert "RUNNER" in "".join(lines(matrix_row(runner="v2"), matrix_row()))


def test_the_head_says_what_was_judged():
    subject, judged, *_ = lines(matrix_row())
    assert subject == "moonshotai/Kimi-K2.5-eagle3@1 on moonshotai/Kimi-K2.5"
    assert judged == "trained on taps 3, 31, 59; judged with the config stored with it"
    assert lines(matrix_row(), trained_taps=None, proposed=True)[1] == "taps unknown; judged with the proposed config"


def test_what_hinders_and_where_ids_go_stand_below():
    lacking = matrix_row(takes="engine", ids=None, pointer=None, obstacle="it lacks a method", first="1", last="1")
    text = "\n".join(lines(lacking, matrix_row()))
    assert "sglang 1: it lacks a method" in text
    assert text.endswith("nested: /eagle_config/eagle_aux_hidden_state_layer_ids")
    assert "top:" not in text


def test_a_fork_says_what_it_comes_from_and_what_it_equals():
    text = "\n".join(lines(matrix_row(**FORK, same_as="0.5.10")))
    assert "sglang 0.5.9+ours: fork of 0.5.9; for this case the same as 0.5.10" in text
    assert "same as" not in "\n".join(lines(matrix_row(**FORK)))


def test_a_config_that_has_to_change_names_the_keys():
    row = matrix_row(takes="config", settings=[{"key": "architectures", "value": ["X"]}])
    assert any("has to change (architectures): `roost emit` writes it" in line for line in lines(row))


def test_names_of_rows_and_ids():
    assert builds_of(matrix_row()) == "sglang 0.5.13 to 0.5.23"
    assert builds_of(matrix_row(last="0.5.13")) == "sglang 0.5.13"
    assert id_list(matrix_row()) == "nested 3,31,59"
    assert id_list(matrix_row(pointer="/eagle_aux_hidden_state_layer_ids")) == "top 3,31,59"
    assert id_list(matrix_row(pointer="/eagle_config/layer_ids")) == "/eagle_config/layer_ids 3,31,59"
    assert id_list(matrix_row(ids=None, pointer=None)) == "-"
    assert id_list(matrix_row(ids=[], pointer=None)) == "none"


def test_every_word_of_the_schema_has_one_here():
    assert TAKES.keys() == set(ALL)


def test_nothing_known_is_said_and_colors_are_optional():
    assert lines()[-1] == "no build is known"
    assert "\x1b[" in render(matrix_document(), paint=Paint(on=True))
    assert "\x1b[" not in render(matrix_document())
