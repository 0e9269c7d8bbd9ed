"""What a verdict does not explain, and what retraining would cost: the two parts that look beyond the findings."""

from collections.abc import Iterable, Mapping

from registry.domain.case import Case
from registry.domain.digests import comparable
from registry.domain.findings import Finding, Remedy
from registry.domain.profile import Profile


def look_next(case: Case) -> tuple[str, ...]:
    """Return, ordered, where to look when acceptance stays low although the verdict passes."""
    training = case.provenance.training
    lines = []
    if case.target is None or not comparable(case.provenance.target.digest, case.target.digest):
        lines.append(
            "target weights: no digest of one kind on both sides, so a fine-tuned or requantized target is not seen"
        )
    lines.append("captured states: compare the numbers that the engine captures with the training dump, row by row")
    lines.append("chat template and thinking mode: training data in another mode than what is served lowers acceptance")
    if training.max_length is not None:
        lines.append(f"context: the drafter saw at most {training.max_length} tokens in training")
    else:
        lines.append("context: the longest sequence seen in training is not recorded")
    if training.draft_depth is not None:
        lines.append(f"draft steps: trained to depth {training.draft_depth}; later positions accept less")
    lines.append("sampling: temperature and concurrency change acceptance; measure with the ones you serve")
    return tuple(lines)


def retrain_cost(case: Case, findings: Iterable[Finding]) -> Mapping[str, object] | None:
    """Return what retraining would reuse, redo and train anew, or None when no finding mentions retraining."""
    if not any(Remedy.RETRAIN in finding.remedies for finding in findings):
        return None
    training, data = case.provenance.training, case.provenance.data
    reused = {"samples": data.samples, "tokens": data.tokens, "cost_usd": data.cost_usd}
    trained = {"trainer": training.trainer, "steps": training.steps, "draft_depth": training.draft_depth}
    return {
        "reused": {key: value for key, value in reused.items() if value is not None},
        "redone": ["dump", "standardization"],
        "trained": {key: value for key, value in trained.items() if value is not None},
    }


def ahead(case: Case, newest: Profile | None, first_legacy: str | None) -> str:
    """Say what the newest shipped build keeps only for old checkpoints, or nothing."""
    architecture = case.reading.draft.architecture if case.reading and case.reading.draft else None
    draft = newest.draft(architecture) if newest and architecture else None
    if draft is None or first_legacy is None:
        return ""
    names = [tensor.bare_name for tensor in case.inventory.tensors]
    used = [prefix for prefix in draft.legacy_names if any(name.startswith(prefix) for name in names)]
    return f"tensor naming `{used[0]}*` is a legacy name since {first_legacy}" if used else ""
