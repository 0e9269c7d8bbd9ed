"""The collection of rules: every rule, found by walking this package, and the running of them over a case.

A module that has a `RULE` is a rule; adding one needs no edit anywhere else.
"""

import hashlib
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import registry.rules
from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.proposal import Launch
from registry.domain.shell_words import shell_words
from registry.domain.verdict import ordered
from registry.rules.manual import manual_of
from registry.rules.rule import FAMILIES, HAS, Part, Rule, Stage

GENERATION: Final = 1
"""First number of the rule set's version: grows when findings change their form."""

_CODE: Final = re.compile(r"[A-Z]{3}[0-9]{3}")
_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_OPTION: Final = re.compile(r"^(?!-m$)--?[A-Za-z][\w-]*")
"""An option of the engine; the `-m` of `python -m` is not one."""

_ASSIGNMENT: Final = re.compile(r"^[A-Za-z_]\w*(?==)")
_VARIABLE: Final = re.compile(r"^\$(\w+|\{\w+\})")
"""A word that a shell would replace by words which are not here."""

_LISTED: Final[tuple[Part, ...]] = ("target", "reading")
"""Parts beside `launch` whose absence a verdict mentions."""


@dataclass(frozen=True)
class Catalogue:
    """Every rule, by code.

    Raises:
        ValueError: two rules share a code or a name, a code or name is malformed, or a manual page is incomplete.
    """

    rules: tuple[Rule, ...]
    """Sorted by code, retired ones included."""
    fingerprint: str = ""
    """What the version adds to the count: the start of a SHA-256 over the sources of this package."""

    def __post_init__(self) -> None:
        for rule in self.rules:
            _refuse_malformed(rule)
        _refuse_repeated("code", (rule.code for rule in self.rules))
        _refuse_repeated("name", (rule.name for rule in self.rules))

    @property
    def version(self) -> str:
        """The version of the rule set, which verdicts cite. The same sources give the same one on every machine."""
        return f"{GENERATION}.{len(self.rules)}.{self.fingerprint}"

    @cached_property
    def _found(self) -> dict[str, Rule]:
        return {key: rule for rule in self.rules for key in (rule.code, rule.name)}

    def get(self, code: str) -> Rule | None:
        """Return the rule with that code, in any case, or with that name; None if there is none."""
        return self._found.get(code.upper()) or self._found.get(code.lower())

    def nearest(self, code: str) -> tuple[str, ...]:
        """Return up to three codes that `code` may have been meant to be, the likeliest first."""
        from difflib import get_close_matches  # noqa: PLC0415  # only a mistyped code needs it

        begun = [rule.code for rule in self.rules if code and rule.code.startswith(code.upper())]
        close = get_close_matches(code.upper(), [rule.code for rule in self.rules], n=3, cutoff=0.5)
        named = get_close_matches(code.lower(), [rule.name for rule in self.rules], n=3, cutoff=0.6)
        return tuple(dict.fromkeys([*begun, *close, *(self._found[name].code for name in named)]))[:3]

    def judge(self, case: Case, stage: Stage) -> tuple[Finding, ...]:
        """Run every rule that applies, and return the findings in order.

        At registration only errors of rules that refuse one stay errors; the other rules give a warning there, since
        the files are kept as evidence and each build is judged later. A rule that crashes blocks.
        """
        applicable = (rule for rule in self.rules if rule.applies(case, stage))
        return ordered(finding for rule in applicable for finding in _run(rule, case, stage))

    def not_judged(self, case: Case) -> tuple[str, ...]:
        """Return what this proposal lacks, or holds and no rule looked at."""
        if case.proposal is None:
            return ()
        launch = case.proposal.launch
        absent = [part for part in _LISTED if not HAS[part](case)]
        return ("launch", *absent) if launch is None else (*absent, *_unread(launch))


def load() -> Catalogue:
    """Walk the package and return its rules.

    Raises:
        ValueError: as for `Catalogue`.
    """
    names = sorted(module.name for module in pkgutil.iter_modules(registry.rules.__path__))
    modules = [importlib.import_module(f"{registry.rules.__name__}.{name}") for name in names]
    rules = [rule for module in modules if isinstance(rule := getattr(module, "RULE", None), Rule)]
    return Catalogue(rules=tuple(sorted(rules, key=lambda rule: rule.code)), fingerprint=_fingerprint(names))


def _fingerprint(names: Iterable[str]) -> str:
    """Digest the sources of the package, as text, so that a wheel, a zipapp and a checkout agree."""
    digest = hashlib.sha256()
    for name in names:
        source = pkgutil.get_data(registry.rules.__name__, f"{name}.py") or b""
        digest.update(name.encode() + b"\0" + source.replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:12]


def _refuse_malformed(rule: Rule) -> None:
    if not _CODE.fullmatch(rule.code) or rule.code[:3] not in FAMILIES:
        msg = f"{rule.code!r} is not a rule code: expected a family ({', '.join(FAMILIES)}) and three digits"
        raise ValueError(msg)
    if not _NAME.fullmatch(rule.name):
        msg = f"{rule.code}: {rule.name!r} is not a rule name: expected kebab-case"
        raise ValueError(msg)
    try:
        manual_of(rule)
    except ValueError as error:
        msg = f"{rule.code}: the manual page is incomplete: {error}"
        raise ValueError(msg) from error


def _refuse_repeated(kind: str, values: Iterable[str]) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            msg = f"two rules have the {kind} {value!r}"
            raise ValueError(msg)
        seen.add(value)


def _run(rule: Rule, case: Case, stage: Stage) -> tuple[Finding, ...]:
    try:
        findings = tuple(_with_facts(finding) for finding in rule.check(case))
    except Exception as error:  # noqa: BLE001  # whatever a rule does wrong, the proposal is not judged, so it blocks
        return (_crashed(rule, error),)
    if stage == "registration" and not rule.refuses_registration:
        return tuple(replace(f, severity=Severity.WARNING) if f.severity is Severity.ERROR else f for f in findings)
    return findings


def _with_facts(finding: Finding) -> Finding:
    """Leave out evidence that holds nothing: a fact that is not there is no evidence of anything."""
    facts = tuple(fact for fact in finding.evidence if fact.value not in (None, "", [], ()))
    return finding if len(facts) == len(finding.evidence) else replace(finding, evidence=facts)


def _crashed(rule: Rule, error: Exception) -> Finding:
    return Finding(
        code=rule.code,
        severity=Severity.ERROR,
        message=f"the rule {rule.code} ({rule.name}) failed, so this is not judged: {type(error).__name__}: {error}",
        at="",
        remedies=(Remedy.UNKNOWN,),
        unknown=f"result of rule {rule.code}",
    )


def _unread(launch: Launch) -> Iterator[str]:
    """Name each option and environment variable of a launch line that no reading looks at; values are left out."""
    known = set(launch.options) | set(launch.environment)
    matches = (_OPTION.match(word) or _ASSIGNMENT.match(word) or _VARIABLE.match(word) for word in _words(launch.text))
    names = dict.fromkeys(match[0] for match in matches if match)
    yield from (f"launch {name}" for name in names if name not in known)


def _words(text: str) -> Sequence[str]:
    try:
        return shell_words(text)
    except ValueError:
        return text.split()
