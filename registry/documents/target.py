"""`roost.target/1`: a target model, its config and the digests somebody recorded."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from registry.documents import fields
from registry.documents.fields import Fields, present
from registry.documents.validation import validated
from registry.domain.target import Target, describe

SCHEMA: Final = "roost.target/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetDocument:
    """A target with the config its facts were read from."""

    target: Target
    config: Mapping[str, object]
    """`config.json` as it was sent."""


def parse(data: bytes | Mapping[str, object]) -> TargetDocument:
    """Return the target in `data`; what its config does not say stays unknown.

    Raises:
        DocumentError: with every fault.
    """
    return from_fields(validated("target", data))


def render(target: Target, config: Mapping[str, object]) -> dict[str, object]:
    """Return the document of `target` with its `config`; the facts read from the config are not repeated."""
    members = (
        ("schema", SCHEMA),
        ("name", target.name),
        ("revision", target.revision),
        ("digest", target.digest),
        ("tokenizer_digest", target.tokenizer_digest),
        ("chat_template_digest", target.chat_template_digest),
    )
    return {**present(members), "config": dict(config)}


def from_fields(document: Fields) -> TargetDocument:
    """Return the record of a document that is already checked."""
    config = fields.part(document, "config")
    target = describe(
        fields.text(document, "name"),
        config,
        revision=fields.maybe_text(document, "revision"),
        digest=fields.maybe_digest(document, "digest"),
        tokenizer_digest=fields.maybe_digest(document, "tokenizer_digest"),
        chat_template_digest=fields.maybe_digest(document, "chat_template_digest"),
    )
    return TargetDocument(target=target, config=config)
