"""The target model: the large model whose tokens are verified, as far as judging a drafter needs to know it."""

from collections.abc import Mapping
from dataclasses import dataclass

from registry.domain.digests import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A registered target model. Facts that its config does not hold are None, never guessed."""

    name: str
    revision: str | None = None
    """A commit, as the model hub counts them."""
    target_class: str | None = None
    """First of `architectures`."""
    layers: int | None = None
    hidden_size: int | None = None
    vocab_size: int | None = None
    dense: bool | None = None
    """No mixture of experts; some engine builds pick their runner by it."""
    digest: Digest | None = None
    tokenizer_digest: Digest | None = None
    chat_template_digest: Digest | None = None

    @property
    def label(self) -> str:
        """Name and short revision, for people."""
        return f"{self.name} at {self.revision[:12]}" if self.revision else self.name


_EXPERT_KEYS = ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")
_TEXT_KEYS = ("text_config", "llm_config", "language_config", "thinker_config")


def text_config_of(config: Mapping[str, object]) -> Mapping[str, object]:
    """Return the part of a model config that describes the text decoder: nested in wrappers, else the whole."""
    for key in _TEXT_KEYS:
        nested = config.get(key)
        if isinstance(nested, Mapping):
            return text_config_of(nested)
    return config


def describe(
    name: str,
    config: Mapping[str, object],
    *,
    revision: str | None = None,
    digest: Digest | None = None,
    tokenizer_digest: Digest | None = None,
    chat_template_digest: Digest | None = None,
) -> Target:
    """Read the facts of a target from its `config.json`."""
    text = text_config_of(config)
    return Target(
        name=name,
        revision=revision,
        target_class=_first_architecture(config),
        layers=_whole(text.get("num_hidden_layers")),
        hidden_size=_whole(text.get("hidden_size")),
        vocab_size=_whole(text.get("vocab_size")) or _whole(config.get("vocab_size")),
        dense=_is_dense(text),
        digest=digest,
        tokenizer_digest=tokenizer_digest,
        chat_template_digest=chat_template_digest,
    )


def _first_architecture(config: Mapping[str, object]) -> str | None:
    names = config.get("architectures")
    first = names[0] if isinstance(names, list | tuple) and names else None
    return first if isinstance(first, str) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _is_dense(text: Mapping[str, object]) -> bool | None:
    if _whole(text.get("num_hidden_layers")) is None:
        return None
    return all((_whole(text.get(key)) or 0) <= 1 for key in _EXPERT_KEYS)
