"""`lm_head.weight` has another shape than the config says.

## What it checks
The head has `draft_vocab_size` rows (else `vocab_size`) and `hidden_size` columns. A head tied to the embedding does
not go with a reduced vocabulary.

## Why it matters
With another number of rows the server does not start, or `d2t` is indexed outside its range. A tied head yields ids
up to the full vocabulary, and `d2t` has no entry for them.

## Example
A config with `tie_word_embeddings: true` beside a stored head of 32000 rows: index out of bounds while decode graphs
are captured.

## How to fix
Where head and `d2t` agree, the config is wrong: set `draft_vocab_size` to the rows, `tie_word_embeddings` to false.

## Limits
Values are not read: whether head and `d2t` belong to the same training run cannot be seen.

## References
Public reports: AngelSlim #16, SpecForge #76.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules import evidence
from registry.rules.drafter import is_reduced, target_vocab, whole
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import DRAFT_VOCAB, HIDDEN, VOCAB, config, inventory, specimen

_MATRIX = 2


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per way in which the head and the config disagree."""
    head = case.inventory.find("lm_head.weight")
    if head is None:
        return
    if len(head.shape) != _MATRIX:
        message = f"{head.name} is {list(head.shape)}, expected a matrix"
        yield _finding(case, message, at="/checkpoint", remedies=(Remedy.CONVERT,))
        return
    key = "vocab_size" if whole(case.config, "draft_vocab_size") is None else "draft_vocab_size"
    rows, hidden = whole(case.config, key), whole(case.config, "hidden_size")
    # Null means the target's head over the whole vocabulary: a head of other rows was trained to another one.
    if rows is not None and head.shape[0] != rows:
        remedies = _remedies(case, head.shape[0])
        advice = f": set draft_vocab_size to {head.shape[0]}" if Remedy.CONFIG in remedies else ""
        message = f"{head.name} has {head.shape[0]} rows, and the config's {key} is {rows}{advice}"
        yield _finding(case, message, at=f"/draft_config/{key}", remedies=remedies)
    if hidden is not None and head.shape[1] != hidden:
        message = f"{head.name} has {head.shape[1]} columns, and the config's hidden_size is {hidden}"
        yield _finding(case, message, at="/draft_config/hidden_size", remedies=(Remedy.CONFIG, Remedy.CONVERT))
    if case.config.get("tie_word_embeddings") and is_reduced(case):
        message = (
            "tie_word_embeddings is true, but the vocabulary is reduced: a tied head yields ids d2t does not have; "
            "set it to false"
        )
        yield _finding(case, message, at="/draft_config/tie_word_embeddings", remedies=(Remedy.CONFIG,))


def _remedies(case: Case, rows: int) -> tuple[Remedy, ...]:
    mapped = case.inventory.find("d2t")
    config_is_wrong = mapped.shape == (rows,) if mapped is not None else rows == target_vocab(case)
    return (Remedy.CONFIG,) if config_is_wrong else (Remedy.CONVERT,)


def _finding(case: Case, message: str, *, at: str, remedies: tuple[Remedy, ...]) -> Finding:
    tensors = (case.inventory.find(name) for name in ("lm_head.weight", "d2t"))
    keys = ("draft_vocab_size", "vocab_size", "hidden_size", "tie_word_embeddings")
    return Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=message,
        at=at,
        remedies=remedies,
        evidence=(
            *(evidence.shape(tensor) for tensor in tensors if tensor is not None),
            *(evidence.configured(case, f"/{key}", case.config[key]) for key in keys if key in case.config),
        ),
    )


RULE = Rule(code="WGT104", name="lm-head-shape", severity=Severity.ERROR, since="0.1.0", stages=BOTH, check=check)

PASSES = (
    specimen(),
    specimen(
        inventory=inventory(without=("d2t", "t2d"), adding={"lm_head.weight": (VOCAB, HIDDEN)}, vocab_map=None),
        config=config(draft_vocab_size=None),
    ),
)

FAILS = (
    specimen(config=config(draft_vocab_size=DRAFT_VOCAB + 1)),
    specimen(config=config(draft_vocab_size=None)),
    specimen(config=config() | {"draft_vocab_size": None}),
    specimen(inventory=inventory(adding={"lm_head.weight": (DRAFT_VOCAB, 2 * HIDDEN)})),
    specimen(inventory=inventory(adding={"lm_head.weight": (DRAFT_VOCAB,)})),
    specimen(config=config(tie_word_embeddings=True)),
)
