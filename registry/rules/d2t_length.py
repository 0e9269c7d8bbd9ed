"""`d2t` has another length than the drafter's vocabulary.

## What it checks
The entries of `d2t` are as many as `draft_vocab_size` says, and as the head has rows.

## Why it matters
A map of another length comes from another run or another setting: each of its entries stands for the wrong row of the
head, or there is none.

## Example
`draft_vocab_size` 32000 and a training set with 6054 distinct tokens: a `d2t` of 6054 entries.

## How to fix
Where `d2t` and the head agree, correct the config. Else put in the map that the head was trained on; a head that was
trained on another map has to be trained again.

## Limits
Equal lengths do not prove that the map is the right one.

## References
Public reports: SpecForge #76, speculators #1081.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules.drafter import target_vocab, whole
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import DRAFT_VOCAB, config, inventory, specimen, vocab_map
from registry.rules.vocabulary_map import of_map


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when lengths differ."""
    entries = _entries(case)
    head = case.inventory.find("lm_head.weight")
    rows = head.shape[0] if head is not None and head.shape else None
    configured = whole(case.config, "draft_vocab_size")
    if "draft_vocab_size" in case.config and case.config["draft_vocab_size"] is None:
        configured = target_vocab(case)  # null: the target's head is installed, whose rows the map must cover
    if entries is None or (entries == (configured or entries) and entries == (rows or entries)):
        return
    message = (
        f"d2t has {entries} entries; draft_vocab_size is {configured if configured is not None else 'not set'} and "
        f"lm_head has {rows if rows is not None else 'no'} rows: expected one entry per row"
    )
    remedies = (Remedy.CONFIG,) if entries == rows else (Remedy.CONVERT, Remedy.RETRAIN)
    yield of_map(case, RULE.code, message, remedies=remedies, severity=Severity.ERROR)


def _entries(case: Case) -> int | None:
    tensor = case.inventory.find("d2t")
    if tensor is not None and len(tensor.shape) == 1:
        return tensor.shape[0]
    return case.inventory.vocab_map.rows if case.inventory.vocab_map else None


RULE = Rule(code="VOC107", name="d2t-length", severity=Severity.ERROR, since="0.1.0", stages=BOTH, check=check)

PASSES = (specimen(), specimen(config=config(draft_vocab_size=None)))

FAILS = (
    specimen(inventory=inventory(adding={"d2t": (60,)}, vocab_map=vocab_map(rows=60).vocab_map)),
    specimen(config=config(draft_vocab_size=DRAFT_VOCAB + 1)),
    specimen(config=config() | {"draft_vocab_size": None}),
)
