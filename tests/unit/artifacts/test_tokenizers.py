import hashlib
import json
from pathlib import Path

import pytest

from registry.artifacts.tokenizers import TokenizerFacts, inspect_tokenizer
from registry.domain.artifact_faults import FaultKind


def facts(directory: Path, **contents: object) -> TokenizerFacts:
    """Write files, `__` in a keyword standing for a dot, and read the tokenizer."""
    directory.mkdir()
    for keyword, content in contents.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (directory / keyword.replace("__", ".")).write_text(text)
    found = inspect_tokenizer(directory)
    assert found.faults == ()
    return found


def sha256(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_the_digest_is_over_the_documented_bytes(tmp_path: Path) -> None:
    found = facts(
        tmp_path / "a",
        tiktoken__model="IQ== 0\n",
        tokenizer_config__json={
            "bos_token": {"content": "[BOS]", "lstrip": False},
            "add_bos_token": False,
            "unk_token": None,
            "added_tokens_decoder": {"10": {"content": "<b>"}, "9": {"content": "<a>"}},
            "chat_template": "x",
        },
    )
    text = (
        "roost.tokenizer/1\n"
        f'["file","tiktoken.model","{sha256("IQ== 0" + chr(10))}"]\n'
        '["setting","add_bos_token",false]\n'
        '["setting","bos_token","[BOS]"]\n'
        '["added",9,"<a>"]\n'
        '["added",10,"<b>"]\n'
    )
    assert found.tokenizer_digest == sha256(text)


def test_what_changes_no_token_changes_no_digest(tmp_path: Path) -> None:
    plain = facts(tmp_path / "a", tokenizer__json="{}", tokenizer_config__json={"eos_token": "</s>"})
    saved_again = facts(
        tmp_path / "b",
        tokenizer__json="{}",
        tokenizer__model="also there",
        special_tokens_map__json={"eos_token": "</s>"},
        tokenizer_config__json={
            "eos_token": {"content": "</s>"},
            "model_max_length": 1000000000000000019884624838656,
            "chat_template": "new",
            "transformers_version": "5",
            "added_tokens_decoder": {"0": {"content": "x"}},
        },
    )
    assert plain.tokenizer_digest == saved_again.tokenizer_digest


def test_what_changes_tokens_changes_the_digest(tmp_path: Path) -> None:
    variants = [
        facts(tmp_path / "a", tokenizer__json="{}"),
        facts(tmp_path / "b", tokenizer__json="{ }"),
        facts(tmp_path / "c", tokenizer__json="{}", tokenizer_config__json={"add_bos_token": True}),
        facts(tmp_path / "d", tokenizer__model="{}"),
        facts(tmp_path / "e", vocab__json="{}", merges__txt="a b"),
    ]
    assert len({found.tokenizer_digest for found in variants}) == len(variants)


def test_there_is_no_tokenizer_without_a_vocabulary(tmp_path: Path) -> None:
    found = facts(tmp_path / "a", tokenizer_config__json={"eos_token": "</s>"}, vocab__json="{}")
    assert found == TokenizerFacts()


def test_a_template_is_the_same_in_every_place_it_can_be(tmp_path: Path) -> None:
    template = "{{ messages }}\n"
    places = [
        facts(tmp_path / "a", chat_template__jinja=template),
        facts(tmp_path / "b", chat_template__json={"chat_template": template}),
        facts(tmp_path / "c", tokenizer_config__json={"chat_template": template}),
        facts(tmp_path / "d", tokenizer_config__json={"chat_template": [
            {"name": "tool_use", "template": "other"}, {"name": "default", "template": template}
        ]}),
        facts(tmp_path / "e", chat_template__jinja=template, tokenizer_config__json={"chat_template": "older"}),
    ]  # fmt: skip
    assert {found.chat_template_digest for found in places} == {sha256(template)}


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("tokenizer_config.json", b"[", FaultKind.CONFIG_MALFORMED),
        ("tokenizer_config.json", b'{"a":1,"a":2}', FaultKind.DUPLICATE_KEY),
        ("tokenizer.json", b"version https://git-lfs.github.com/spec/v1\nsize 5\n", FaultKind.LFS_POINTER),
        ("tokenizer.model", b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00.", FaultKind.PICKLE),
        ("chat_template.jinja", b"\xff", FaultKind.CONFIG_MALFORMED),
        ("chat_template.json", b"[]", FaultKind.CONFIG_MALFORMED),
    ],
)
def test_files_that_are_something_else_are_refused(tmp_path: Path, name: str, data: bytes, kind: FaultKind) -> None:
    (tmp_path / name).write_bytes(data)
    found = inspect_tokenizer(tmp_path)
    assert [(fault.kind, fault.file) for fault in found.faults] == [(kind, name)]
    assert found.tokenizer_digest is None


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("{}")
    (tmp_path / "tokenizer.json").symlink_to("elsewhere")
    assert [fault.kind for fault in inspect_tokenizer(tmp_path).faults] == [FaultKind.SYMLINK]


def test_a_directory_that_is_none_is_the_callers_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        inspect_tokenizer(tmp_path / "none")
