"""`d2t` leads to token ids that the target does not have.

## What it checks
Read as offsets (target id = draft id + `d2t`[draft id]), every target id lies between 0 and the vocabulary size.

## Why it matters
Ids outside index beyond the target's embedding: an error in the middle of serving, or garbage.

## Example
A map made for a vocabulary of 152064 tokens, used with a target of 32000.

## How to fix
Make the map again from the kept tokens of this target's tokenizer, and store it as a new version.

## Limits
A table of absolute ids also leads out of range; it is reported as such by a rule of its own.

## References
`d2t` holds offsets in SafeAILab EAGLE-3, SpecForge, SGLang and vLLM.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules.drafter import target_vocab
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import VOCAB, specimen, vocab_map
from registry.rules.vocabulary_map import of_map, reads_as_absolute


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when target ids read as offsets lie outside the vocabulary."""
    stored, vocab = case.inventory.vocab_map, target_vocab(case)
    if stored is None or reads_as_absolute(case, stored):
        return
    if stored.offset_min < 0 or (vocab is not None and stored.offset_max >= vocab):
        message = (
            f"d2t leads to target ids {stored.offset_min} to {stored.offset_max}; "
            f"expected 0 to {vocab - 1 if vocab else 'the vocabulary size'}: make the map again from the kept tokens"
        )
        yield of_map(case, RULE.code, message, remedies=(Remedy.CONVERT,), severity=Severity.ERROR)


RULE = Rule(code="VOC102", name="d2t-out-of-range", severity=Severity.ERROR, since="0.1.0", stages=BOTH, check=check)

PASSES = (specimen(), specimen(inventory=vocab_map(offset_max=VOCAB - 1)))

FAILS = (specimen(inventory=vocab_map(offset_max=VOCAB)), specimen(inventory=vocab_map(offset_min=-1)))
