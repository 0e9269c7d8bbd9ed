"""Judging: one proposal in, one verdict out. Pure: no clock, no I/O; the same inputs give the same bytes.

read -> rules -> suggestions (each applied and judged again) -> decision, remedy, headline.
"""

from collections.abc import Iterator, Sequence
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
from registry.services.profiles import Profiles
from registry.services.ranges import spans


def judge_registration(
    subject: Subject, *, profiles: Profiles, faults: tuple[ArtifactFault, ...] = ()
) -> tuple[Finding, ...]:
    """Return what the rules say of a registration: of the files, and of the record against them."""
    return ordered(catalogue().judge(registration_case(subject, profiles=profiles, faults=faults), "registration"))


def judge(subject: Subject, proposal: Proposal, *, profiles: Profiles, target: Target | None = None) -> Verdict:
    """Judge a proposal.

    Args:
        subject: The checkpoint's facts.
        proposal: What somebody wants to run; its launch text is parsed already.
        profiles: The profiles to judge with.
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
    findings: tuple[Finding, ...], subject: Subject, case: Case, *, profiles: Profiles
) -> tuple[Finding, ...]:
    """Attach the smallest edit that no longer blocks to every error that a config edit mends.

    Where no edit is enough, what would still block after the fullest one is added: a config that names the wrong class
    hides what is wrong with the right one, and the answer must not be "config only" then.
    """
    mendable = [f for f in findings if f.severity is Severity.ERROR and Remedy.CONFIG in f.remedies]
    if not mendable or any(Remedy.REJECT in f.remedies for f in findings):
        return findings
    suggestion, left = _first_that_passes(subject, case, profiles=profiles)
    if suggestion is None:
        return ordered((*findings, *_hidden(findings, left)))
    return tuple(replace(f, suggested=suggestion) if f in mendable else f for f in findings)


def _hidden(findings: Sequence[Finding], left: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the errors that show only once the config is mended as far as it can be."""
    seen = {(finding.code, finding.remedies) for finding in findings}
    for finding in left:
        if finding.severity is Severity.ERROR and (finding.code, finding.remedies) not in seen:
            yield replace(finding, message=f"once the config is mended: {finding.message}")


def _first_that_passes(
    subject: Subject, case: Case, *, profiles: Profiles
) -> tuple[Suggestion | None, Sequence[Finding]]:
    """Return the first edit that does not block, or None and what is left after the last one."""
    left: Sequence[Finding] = ()
    if case.profile is None or case.target is None or case.proposal is None or case.trained.taps is None:
        return None, left
    situation = situation_of(case, case.profile, case.target, case.config)
    for edit in edits(engine(case.profile.engine), situation, case.trained.taps):
        left = _judged_again(subject, case.proposal, edit, target=case.target, profiles=profiles)
        decision = decide(left)
        if decision != "block":
            made = Suggestion(draft_config=edit.operations, launch=edit.options, decision=decision, text=edit.text)
            return made, left
    return None, left


def _judged_again(
    subject: Subject, proposal: Proposal, edit: Edit, *, target: Target, profiles: Profiles
) -> Sequence[Finding]:
    edited = replace(proposal, draft_config=edit.situation.config, launch=edit.situation.launch)
    return catalogue().judge(check_case(subject, edited, target=target, profiles=profiles), "check")


def _ahead(case: Case, build: Build, profiles: Profiles) -> str:
    versions = profiles.upstream(build.engine)
    known = [profile for v in versions if (profile := profiles.get(Build(engine=build.engine, version=v))) is not None]
    first = next((p.version for p in known if any(draft.legacy_names for draft in p.drafts)), None)
    return ahead(case, known[-1] if known else None, first)
