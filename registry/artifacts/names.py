"""Which files of a drafter directory are taken, as what, and which names are safe to use as paths.

Names come from directories, from index files and from clients. Only `checked` names ever become paths.
"""

import re
from typing import Literal

from registry.artifacts.faults import FaultError, faulty
from registry.domain.artifact_faults import FaultKind

Role = Literal["config", "weights", "index", "tokenizer", "template"]

CONFIG = "config.json"
WEIGHTS_SUFFIX = ".safetensors"
INDEX_SUFFIX = ".safetensors.index.json"
MAIN_INDEX = "model.safetensors.index.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
TEMPLATE = "chat_template.jinja"
TEMPLATE_JSON = "chat_template.json"

PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
"""Suffixes under which torch writes pickled weights."""

TRAINER_STATE = re.compile(r"^(training_args|optimizer|scheduler|scaler|rng_state(_\d+)?)\.(bin|pt|pth)$")
"""Pickles that trainers leave beside the weights; they are not weights."""

_TOKENIZER_NAMES = (
    "tokenizer.json", "tokenizer.model", TOKENIZER_CONFIG, "special_tokens_map.json", "added_tokens.json",
    "vocab.json", "vocab.txt", "merges.txt", "tiktoken.model", "spiece.model", "sentencepiece.bpe.model", "tekken.json",
)  # fmt: skip
_ROLES: dict[str, Role] = {
    CONFIG: "config",
    TEMPLATE: "template",
    TEMPLATE_JSON: "template",
    **dict.fromkeys(_TOKENIZER_NAMES, "tokenizer"),
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LONGEST_NAME = 1024  # bytes; twice what any hub repository was seen to use
_LONGEST_PART = 255  # NAME_MAX of Linux file systems


def role_of(name: str) -> Role | None:
    """Return what the file called `name` is taken as; None where it is not taken.

    Shards in subdirectories have the role `weights`; they count only where an index names them.
    """
    if name.endswith(WEIGHTS_SUFFIX):
        return "weights"
    if "/" in name:
        return None
    if name.endswith(INDEX_SUFFIX):
        return "index"
    return "tokenizer" if name.endswith(".tiktoken") else _ROLES.get(name)


def is_pickled_weights(name: str) -> bool:
    """Tell whether `name` is one under which torch writes weights as a pickle."""
    return name.endswith(PICKLE_SUFFIXES) and not TRAINER_STATE.match(name.rpartition("/")[2])


def unsafe_reason(name: str) -> str | None:
    """Say why `name` cannot be used as a path below a directory; None where it can."""
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "is not UTF-8"
    parts = name.split("/")
    reasons = (
        (not name, "is empty"),
        (length > _LONGEST_NAME or any(len(part.encode()) > _LONGEST_PART for part in parts), "is too long"),
        (_CONTROL.search(name) is not None, "holds a control character"),
        ("\\" in name, "holds a backslash"),
        (name.startswith("/") or re.match(r"^[A-Za-z]:", name) is not None, "is absolute"),
        (".." in parts, "leads out of the directory"),
        ("" in parts or "." in parts, "has an empty or '.' part"),
    )
    return next((reason for wrong, reason in reasons if wrong), None)


def checked(name: str, *, file: str, where: str = "") -> str:
    """Return `name` if it is a plain relative path inside the directory.

    Args:
        name: the name as a client or an index claims it.
        file: the file that claims it, for the message.
        where: the place in that file.

    Raises:
        FaultError: with `PATH_ESCAPE`.
    """
    reason = unsafe_reason(name)
    if reason is None:
        return name
    raise escape_fault(name, reason=reason, file=file, where=where)


def escape_fault(name: str, *, reason: str, file: str, where: str) -> FaultError:
    """Return the exception for a name that is no plain relative path."""
    shown = printable(name[:120])
    return faulty(
        FaultKind.PATH_ESCAPE,
        file,
        where=where,
        observed=f"the file name '{shown}' {reason}",
        expected="a relative path inside the directory, with '/' between its parts",
    )


def printable(name: str) -> str:
    """Return `name` with control characters and undecodable bytes escaped, so that it can be shown and stored."""
    text = name.encode("utf-8", "backslashreplace").decode("utf-8")
    return _CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", text)
