"""Problem documents of the registry (RFC 9457) put into words. Pure."""

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, Protocol

from roost.failures import COULD_NOT_RUN, Failure

_REFUSALS: Final = {HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}


class Answered(Protocol):
    """What is needed of an answer."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def body(self) -> bytes:
        """The body as it came."""
        ...


class ProblemFailure(Failure):
    """The registry answered with a problem document."""

    def __init__(self, problem: Mapping[str, Any], *, exit_code: int) -> None:
        super().__init__(
            _message(problem),
            hint=str(problem.get("hint") or ""),
            details=tuple(details_of(problem)),
            document=problem,
        )
        self.problem = problem
        self.exit_code = exit_code


def _message(problem: Mapping[str, Any]) -> str:
    """Return the detail; where it goes on with what follows a line each, only what comes before that."""
    detail = str(problem.get("detail") or problem.get("title") or "the registry refused")
    said = [f"{finding.get('code')}: " for finding in problem.get("findings") or ()]
    said += [f"{_place(error)}: {error.get('message')}" for error in problem.get("errors") or ()]
    places = (detail.find(text) for text in said)
    return detail[: min((place for place in places if place > 0), default=len(detail))].rstrip(" :")


def failure_from(answer: Answered, *, asked: str, refusal_exit: int) -> Failure:
    """Return the failure that an answer of 400 or more stands for.

    Args:
        answer: The answer.
        asked: Method and address, for an answer that is no problem document.
        refusal_exit: Exit code where the registry understood and refused.
    """
    try:
        problem = json.loads(answer.body)
    except (ValueError, RecursionError):
        problem = None
    if not _is_problem(problem):
        return Failure(
            f"{asked} answered {answer.status} without a problem document",
            hint="is ROOST_URL the address of a Roost registry?",
        )
    return ProblemFailure(problem, exit_code=refusal_exit if answer.status in _REFUSALS else COULD_NOT_RUN)


def _is_problem(document: Any) -> bool:
    """Tell whether an answer has the form of a registry's problem document; a proxy's error page has not."""
    if not isinstance(document, dict) or "title" not in document:
        return False
    lists = [document.get(key) or [] for key in ("errors", "difference", "findings")]
    return all(isinstance(listed, list) and all(isinstance(entry, dict) for entry in listed) for listed in lists)


def details_of(problem: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line per fault, difference and finding of a problem document."""
    for error in problem.get("errors") or ():
        if error.get("message") == problem.get("detail"):
            continue
        place = _place(error)
        hint = f" ({error['hint']})" if error.get("hint") else ""
        yield f"{place}: {error.get('message', '')}{hint}"
    for difference in problem.get("difference") or ():
        registered, given = (plain(difference.get(side)) for side in ("registered", "given"))
        yield f"{difference.get('pointer', '')}: registered {registered}, given {given}"
    yield from finding_lines(problem.get("findings") or ())


def _place(error: Mapping[str, Any]) -> str:
    return str(error.get("pointer") or "the document")


def finding_lines(findings: Any) -> Iterator[str]:
    """Yield a line per finding, errors first."""
    for finding in sorted(findings, key=lambda finding: bool(finding.get("severity") != "error")):
        place = f" (at {finding['at']})" if finding.get("at") else ""
        weight = "" if finding.get("severity") == "error" else f"{finding.get('severity')}: "
        yield f"{weight}{finding.get('code', '')} {finding.get('message', '')}{place}"


def plain(value: object) -> str:
    """Return a value of a document as JSON; what is absent is nothing."""
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)
