"""The reduced vocabulary is just the first tokens of the target's.

## What it checks
A `d2t` of zeros although the drafter's vocabulary is smaller than the target's: draft id k is target id k.

## Why it matters
Kept tokens are meant to be the frequent ones. The first ids of a vocabulary are not, and every token beyond them can
never be proposed. Training looks fine, since it used the same slice.

## Example
`t2d` true for ids 0 to 31999 only, `d2t` all zeros, with a target of 163840 tokens.

## How to fix
Train with a map of the tokens that are frequent in the data.

## Limits
With the full vocabulary a map of zeros is right and is not reported.

## References
Public reports: verl-SpeCo #66, EAGLE #222.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules.drafter import draft_vocab, is_reduced, target_vocab
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import HIDDEN, VOCAB, config, inventory, specimen, vocab_map
from registry.rules.vocabulary_map import of_map


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when a reduced vocabulary is mapped by zeros."""
    stored = case.inventory.vocab_map
    if stored is None or not stored.all_zero or not is_reduced(case):
        return
    message = (
        f"d2t is all zeros: the drafter knows only the first {draft_vocab(case)} of {target_vocab(case)} tokens, "
        "expected a map of the frequent ones"
    )
    yield of_map(case, RULE.code, message, remedies=(Remedy.RETRAIN,), severity=Severity.WARNING)


RULE = Rule(code="VOC105", name="identity-prefix", severity=Severity.WARNING, since="0.1.0", stages=BOTH, check=check)

_FULL = inventory(
    adding={"lm_head.weight": (VOCAB, HIDDEN), "d2t": (VOCAB,)},
    vocab_map=vocab_map(all_zero=True, rows=VOCAB).vocab_map,
)

PASSES = (specimen(), specimen(inventory=_FULL, config=config(draft_vocab_size=VOCAB)))

FAILS = (specimen(inventory=vocab_map(all_zero=True)),)
