"""What identifies a tokenizer and a chat template, computed alike for drafters and targets.

Saving a tokenizer again rewrites much of `tokenizer_config.json` that changes no token, so only what decides token ids
counts: one vocabulary source, and the members of `tokenizer_config.json` that add or name tokens. `docs/format.md`
specifies the bytes.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from registry.artifacts.configs import config_of
from registry.artifacts.faults import FaultError, faulty
from registry.artifacts.files import Files, directory_files
from registry.artifacts.hashing import HashJob, hash_files
from registry.artifacts.names import TEMPLATE, TEMPLATE_JSON, TOKENIZER_CONFIG, role_of
from registry.artifacts.sniffing import disguise
from registry.domain.artifact_faults import ArtifactFault, FaultKind
from registry.domain.digests import Digest

TEMPLATE_CAP = 8 << 20
"""Most bytes of a chat template."""

_HEADER = "roost.tokenizer/1\n"

_SOURCES: tuple[tuple[str, ...], ...] = (
    ("tokenizer.json",),
    ("tekken.json",),
    ("tiktoken.model",),
    ("tokenizer.model",),
    ("spiece.model",),
    ("sentencepiece.bpe.model",),
    ("vocab.json", "merges.txt"),
    ("vocab.txt",),
)
"""Vocabulary sources, first match wins: loaders prefer the converted `tokenizer.json` where there is one."""

_MEMBERS = ("add_bos_token", "add_eos_token", "add_prefix_space", "bos_token", "eos_token", "unk_token")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFacts:
    """Digests (`sha256:`) of a tokenizer and its chat template, None where there is none; and what is wrong."""

    tokenizer_digest: Digest | None = None
    chat_template_digest: Digest | None = None
    faults: tuple[ArtifactFault, ...] = ()


def inspect_tokenizer(directory: Path) -> TokenizerFacts:
    """Read the tokenizer and template files directly in `directory`.

    Raises:
        OSError: `directory` is none or cannot be read.
    """
    with directory_files(directory) as files:
        names = [name for name in files.names if role_of(name) in {"tokenizer", "template"}]
        try:
            sizes = {name: _genuine_size(files, name) for name in names}
            jobs = [HashJob(open=partial(files.open, name), size=size) for name, size in sizes.items()]
            hashes = dict(zip(names, (found.sha256 for found in hash_files(jobs)), strict=True))
            return tokenizer_facts(files, hashes)
        except FaultError as error:
            return TokenizerFacts(faults=(error.fault,))


def _genuine_size(files: Files, name: str) -> int:
    head, size = files.head(name)
    pretender = disguise(head, file=name, size=size)
    if pretender is not None:
        raise FaultError(pretender)
    return size


def tokenizer_facts(files: Files, sha256s: Mapping[str, Digest]) -> TokenizerFacts:
    """Compute both digests from the tokenizer and template files among `files`.

    Args:
        files: where `tokenizer_config.json` and the template are read from.
        sha256s: SHA-256 of each tokenizer file by name.

    Raises:
        FaultError: a file cannot be read.
    """
    settings: Mapping[str, object] = {}
    if TOKENIZER_CONFIG in files.names:
        read = config_of(files, TOKENIZER_CONFIG)
        if isinstance(read, tuple):
            return TokenizerFacts(faults=read)
        settings = read
    return TokenizerFacts(
        tokenizer_digest=tokenizer_digest(sha256s, settings),
        chat_template_digest=_template_digest(files, settings),
    )


def tokenizer_digest(sha256s: Mapping[str, Digest], settings: Mapping[str, object]) -> Digest | None:
    """Return the digest of a tokenizer; None where no file holds a vocabulary.

    Args:
        sha256s: SHA-256 of the files by name.
        settings: `tokenizer_config.json`; empty where there is none.
    """
    tiktoken = tuple(sorted(name for name in sha256s if name.endswith(".tiktoken")))
    candidates = (*_SOURCES, tiktoken) if tiktoken else _SOURCES
    source = next((names for names in candidates if all(name in sha256s for name in names)), None)
    if source is None:
        return None
    lines: list[Sequence[object]] = [["file", name, sha256s[name]] for name in source]
    lines += [["setting", key, value] for key in _MEMBERS if (value := _token(settings.get(key))) is not None]
    if source != ("tokenizer.json",):  # which holds its added tokens itself
        lines += _added_tokens(settings.get("added_tokens_decoder"))
    text = _HEADER + "".join(_line(line) for line in lines)
    return Digest(f"sha256:{hashlib.sha256(text.encode()).hexdigest()}")


def _line(members: Sequence[object]) -> str:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")) + "\n"


def _token(value: object) -> str | bool | None:
    """Return a setting as text or boolean; tokens are written as text or as an object with `content`."""
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, (str, bool)) else None


def _added_tokens(value: object) -> list[list[object]]:
    if not isinstance(value, dict):
        return []
    found = [
        (int(key), text) for key, token in value.items() if key.isdecimal() and (text := _token(token)) is not None
    ]
    return [["added", number, text] for number, text in sorted(found, key=lambda pair: pair[0])]


def _template_digest(files: Files, settings: Mapping[str, object]) -> Digest | None:
    text = _template_text(files, settings)
    return None if text is None else Digest(f"sha256:{hashlib.sha256(text).hexdigest()}")


def _template_text(files: Files, settings: Mapping[str, object]) -> bytes | None:
    """Return the template that loaders use: its own file, else the JSON file, else the tokenizer config's member."""
    if TEMPLATE in files.names:
        text = files.read(TEMPLATE, cap=TEMPLATE_CAP, kind=FaultKind.CONFIG_MALFORMED)
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            observed = f"not UTF-8 at byte {error.start}"
            raise faulty(FaultKind.CONFIG_MALFORMED, TEMPLATE, observed=observed, expected="UTF-8 text") from None
        return text
    member = settings.get("chat_template")
    if TEMPLATE_JSON in files.names:
        read = config_of(files, TEMPLATE_JSON)
        if isinstance(read, tuple):
            raise FaultError(read[0])
        member = read.get("chat_template", member)
    if isinstance(member, list):
        named = [entry for entry in member if isinstance(entry, dict) and entry.get("name") == "default"]
        member = named[0].get("template") if named else None
    return member.encode() if isinstance(member, str) else None
