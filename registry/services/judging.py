"""Judging: one proposal in, one verdict out. Pure: no clock, no I/O; the same inputs give the same bytes.

read -> rules -> suggestions (each applied and judged again) -> decision, remedy, headline.
"""

from collections.abc import Sequence
from dataclasses import replace

from registry.domain.artifact_faults import ArtifactFault
from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity, Suggestion
from registry.domain.proposal import Build, Proposal
from registry.domain.reading import Outcome
from registry.domain.target import Target
from registry.domain.verdict import Verdict, decide, ordered, overall_remedy
from registry.engines.engine import engine
from registry.engines.suggest import Edit, edits
from registry.rules import catalogue
from registry.services.cases import Subject, check_case, registration_case, situation_of
from registry.services.headline import headline
from registry.services.outlook import ahead, look_next, retrain_cost
from registry.services.profiles import ShippedProfiles
from registry.services.ranges import spans


def judge_registration(
    subject: Subject, *, profiles: ShippedProfiles, faults: tuple[ArtifactFault, ...] = ()
) -> tuple[Finding, ...]:
    """Return what the rules say of a registration: of the files, and of the record against them."""
    return ordered(catalogue().judge(registration_case(subject, profiles=profiles, faults=faults), "registration"))


def judge(subject: Subject, proposal: Proposal, *, profiles: ShippedProfiles, target: Target | None = None) -> Verdict:
    """Judge a proposal.

    Args:
        subject: The checkpoint's facts.
        proposal: What somebody wants to run; its launch text is parsed already.
        profiles: The shipped profiles.
        target: The target it will run on; None is the one it was trained for.
    """
    case = check_case(subject, proposal, target=target, profiles=profiles)
    findings = ordered(catalogue().judge(case, "check"))
    findings = _with_suggestion(findings, subject, case, profiles=profiles)
    decision, remedy = decide(findings), overall_remedy(findings)
    reading = case.reading
    stretches = spans(subject, proposal, target=target, profiles=profiles)
    return Verdict(
        decision=decision,
        remedy=remedy,
        outcome=reading.outcome if reading else Outcome.UNKNOWN,
        headline=headline(
            proposal.build, decision, remedy, findings, stretches, ahead=_ahead(case, proposal.build, profiles)
        ),
        engine=str(proposal.build),
        runner=reading.runner if reading else proposal.runner,
        unknown=tuple(sorted({finding.unknown for finding in findings if finding.unknown})),
        trained_taps=case.trained.taps,
        effective_taps=reading.taps if reading else None,
        findings=findings,
        not_judged=catalogue().not_judged(case),
        look_next=look_next(case),
        retrain_cost=retrain_cost(case, findings),
        profile=case.profile.citation if case.profile else None,
        rules=catalogue().version,
    )


def _with_suggestion(
    findings: tuple[Finding, ...], subject: Subject, case: Case, *, profiles: ShippedProfiles
) -> tuple[Finding, ...]:
    """Attach the smallest edit that no longer blocks to every error that a config edit mends."""
    mendable = [f for f in findings if f.severity is Severity.ERROR and Remedy.CONFIG in f.remedies]
    if not mendable or any(Remedy.REJECT in f.remedies for f in findings):
        return findings
    suggestion = _first_that_passes(subject, case, profiles=profiles)
    if suggestion is None:
        return findings
    return tuple(replace(f, suggested=suggestion) if f in mendable else f for f in findings)


def _first_that_passes(subject: Subject, case: Case, *, profiles: ShippedProfiles) -> Suggestion | None:
    if case.profile is None or case.target is None or case.proposal is None or case.trained.taps is None:
        return None
    situation = situation_of(case, case.profile, case.target, case.config)
    for edit in edits(engine(case.profile.engine), situation, case.trained.taps):
        decision = decide(_judged_again(subject, case.proposal, edit, target=case.target, profiles=profiles))
        if decision != "block":
            return Suggestion(draft_config=edit.operations, launch=edit.options, decision=decision, text=edit.text)
    return None


def _judged_again(
    subject: Subject, proposal: Proposal, edit: Edit, *, target: Target, profiles: ShippedProfiles
) -> Sequence[Finding]:
    edited = replace(proposal, draft_config=edit.situation.config, launch=edit.situation.launch)
    return catalogue().judge(check_case(subject, edited, target=target, profiles=profiles), "check")


def _ahead(case: Case, build: Build, profiles: ShippedProfiles) -> str:
    versions = profiles.upstream(build.engine)
    shipped = [
        profile for v in versions if (profile := profiles.get(Build(engine=build.engine, version=v))) is not None
    ]
    first = next((p.version for p in shipped if any(draft.legacy_names for draft in p.drafts)), None)
    return ahead(case, shipped[-1] if shipped else None, first)
