"""The drafter's vocabulary is reduced, and no `d2t` says which tokens it holds.

## What it checks
Where the drafter's vocabulary is smaller than the target's, the checkpoint holds `d2t`.

## Why it matters
Without it, every build that was looked at takes draft id k as target id k: the head proposes the first N tokens of
the vocabulary, whatever it meant. Nothing fails, and acceptance collapses.

## Example
A trainer that keeps the mapping in a side file: `draft_vocab_size` 32000, no `d2t` in the safetensors.

## How to fix
Put the map into the artifact: `d2t[i] = token[i] - i` over the kept tokens, as whole numbers. The head stays as it is.

## Limits
With the full vocabulary no map is expected. SGLang's `--speculative-token-map` is ignored for EAGLE-3.

## References
Public report: Automodel #2447.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules.drafter import draft_vocab, is_reduced, target_vocab
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import HIDDEN, VOCAB, config, inventory, specimen
from registry.rules.vocabulary_map import of_map


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when a reduced vocabulary has no map."""
    if not is_reduced(case) or case.inventory.vocab_map is not None or case.inventory.find("d2t") is not None:
        return
    message = (
        f"the drafter's vocabulary is {draft_vocab(case)} of the target's {target_vocab(case)} tokens, and there is no "
        "d2t: draft id k is then taken as target id k, without a word; store the map of training "
        "as d2t (token minus draft id), as a new version"
    )
    yield of_map(case, RULE.code, message, remedies=(Remedy.CONVERT,), severity=Severity.ERROR)


RULE = Rule(code="VOC101", name="d2t-missing", severity=Severity.ERROR, since="0.1.0", stages=BOTH, check=check)

_WITHOUT = inventory(without=("d2t", "t2d"), vocab_map=None)
_FULL = inventory(without=("d2t", "t2d"), adding={"lm_head.weight": (VOCAB, HIDDEN)}, vocab_map=None)

PASSES = (specimen(), specimen(inventory=_FULL, config=config(draft_vocab_size=VOCAB)))

FAILS = (specimen(inventory=_WITHOUT),)
