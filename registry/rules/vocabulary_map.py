"""What rules of family VOC ask about `d2t`: the map from the drafter's reduced vocabulary to the target's."""

from registry.domain.case import Case
from registry.domain.findings import Evidence, Finding, Remedy, Severity
from registry.domain.tensors import VocabMap
from registry.rules import evidence
from registry.rules.drafter import draft_vocab, target_vocab


def reads_as_absolute(case: Case, stored: VocabMap) -> bool:
    """Tell whether the values can only be target ids themselves: they increase, fit, and fail as offsets.

    A map of offsets never increases strictly unless every kept token is followed by a gap, and then it fits as
    offsets too; `t2d`, where it is stored, settles it.
    """
    vocab = target_vocab(case)
    if stored.rows < 2 or not stored.absolute_increasing or stored.t2d_agrees:  # noqa: PLR2004  # one value is always sorted
        return False
    fits = stored.absolute_min >= 0 and (vocab is None or stored.absolute_max < vocab)
    fails = stored.t2d_agrees is False or stored.offset_min < 0 or (vocab is not None and stored.offset_max >= vocab)
    return fits and fails


def of_map(case: Case, code: str, message: str, *, remedies: tuple[Remedy, ...], severity: Severity) -> Finding:
    """Return a finding about the vocabulary map."""
    return Finding(
        code=code, severity=severity, message=message, at="/checkpoint", remedies=remedies, evidence=sizes(case)
    )


def sizes(case: Case) -> tuple[Evidence, ...]:
    """Return the sizes and values that the map is judged by."""
    stored = case.inventory.vocab_map
    tensors = (case.inventory.find(name) for name in ("d2t", "lm_head.weight"))
    return (
        evidence.configured(case, "draft vocabulary", draft_vocab(case)),
        evidence.of_target(case.provenance.target.name, "vocabulary", target_vocab(case)),
        *(evidence.shape(tensor) for tensor in tensors if tensor is not None),
        *(
            (evidence.stored("target ids read as offsets", [stored.offset_min, stored.offset_max], source="d2t"),)
            if stored
            else ()
        ),
    )
