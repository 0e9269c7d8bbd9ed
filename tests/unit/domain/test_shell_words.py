"""Launch text as a shell would split it: what a shell keeps from a program is no word of it."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.domain.shell_words import shell_words

FLAG = "--disable-cuda-graph"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ()),
        (" \n\t", ()),
        (f"python {FLAG}", ("python", FLAG)),
        (f"python \\\n  --x \\\n {FLAG}", ("python", "--x", FLAG)),
        (f"--x\n{FLAG}", ("--x", FLAG)),
        (f"# first\npython # {FLAG}", ("python",)),
        (f"--x '# {FLAG}' a#b \\#", ("--x", f"# {FLAG}", "a#b", "#")),
        (f"--x 'a {FLAG}' \"b {FLAG}\"", ("--x", f"a {FLAG}", f"b {FLAG}")),
        ('a"b\\"\\c\\\nd"e', ('ab"\\cde',)),
        ("--a '' \"\"", ("--a", "", "")),
        ("--x $MODEL ${Y}", ("--x", "$MODEL", "${Y}")),
    ],
)
def test_words_are_those_that_a_shell_gives_the_program(text, words):
    assert shell_words(text) == words


@pytest.mark.parametrize(
    "text",
    [
        f"a && b {FLAG}",
        f"a; b {FLAG}",
        f"a | tee {FLAG}",
        f"a & {FLAG}",
        "a > log",
        "$(x)",
        f"a\nb {FLAG}",
        f"(a {FLAG})",
    ],
)
def test_more_than_one_command_is_refused(text):
    with pytest.raises(ValueError, match="more than one command"):
        shell_words(text)


@pytest.mark.parametrize(("text", "why"), [("'a", "quote ' is not"), ('a "b', 'quote " is not'), ("a\\", "backslash")])
def test_broken_quoting_is_refused(text, why):
    with pytest.raises(ValueError, match=why):
        shell_words(text)


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"]), max_size=8), max_size=6))
def test_what_was_quoted_comes_back(words):
    assert shell_words(shlex.join(words)) == tuple(words)
