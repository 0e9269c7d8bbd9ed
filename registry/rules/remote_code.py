"""The config names code to run (`auto_map`).

## What it checks
`auto_map` in the draft config: a reference to another repository (`owner/name--module.Class`), or to a .py file that
lies beside the config, is refused. A local name without its file is a leftover of the trainer and only a warning.

## Why it matters
With trust in remote code switched on, a loader downloads and runs what `auto_map` names. A drafter needs no code of
its own: its class is part of the engine.

## Example
    "auto_map": {"AutoModel": "someone/their-repo--modeling_draft.DraftModel"}

## How to fix
Take `auto_map` out of the config, and the .py files out of the directory. `roost emit` never writes it.

## Limits
Only `config.json` is looked at.

## References
Remote code of the Transformers library.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules import evidence
from registry.rules.rule import BOTH, Rule
from registry.rules.specimen import config, inventory, specimen

_KEY: Final = "auto_map"


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding per reference to code, in the config and in every config nested in it."""
    for at, mapping in _maps(case.config, ""):
        if not isinstance(mapping, Mapping):
            yield _finding(at, mapping, "auto_map is no object, so what it names is not known", severity=Severity.ERROR)
            continue
        for key, value in sorted(mapping.items()):
            for reference in value if isinstance(value, list | tuple) else (value,):
                if reference is not None:
                    yield _judged(case, str(key), reference, at=f"{at}/{_escaped(key)}")


def _maps(value: object, at: str) -> Iterator[tuple[str, object]]:
    """Yield (JSON Pointer, value) of every `auto_map` that is not null."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            place = f"{at}/{_escaped(key)}"
            if key == _KEY and inner is not None:
                yield place, inner
            elif key != _KEY:
                yield from _maps(inner, place)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _maps(inner, f"{at}/{number}")


def _escaped(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def _judged(case: Case, key: str, reference: object, *, at: str) -> Finding:
    if not isinstance(reference, str):
        message = f"auto_map names {reference!r} for {key}, expected a text"
        return _finding(at, reference, message, severity=Severity.ERROR)
    if "--" in reference or "/" in reference:
        message = f"auto_map names code of another repository for {key}: {reference}; take auto_map out of the config"
        return _finding(at, reference, message, severity=Severity.ERROR)
    file = reference.rpartition(".")[0].replace(".", "/") + ".py"
    if file in case.inventory.python_files:
        message = f"auto_map names {reference} for {key}, and {file} is there: take both out, a drafter needs no code"
        return _finding(at, reference, message, severity=Severity.ERROR)
    message = f"auto_map names {reference} for {key}, and there is no {file}; it is never emitted"
    return _finding(at, reference, message, severity=Severity.WARNING)


def _finding(at: str, reference: object, message: str, *, severity: Severity) -> Finding:
    is_error = severity is Severity.ERROR
    return Finding(
        code=RULE.code,
        severity=severity,
        message=message,
        at=f"/draft_config{at}",
        remedies=(Remedy.REJECT,) if is_error else (Remedy.CONFIG,),
        evidence=(evidence.stored(at.removeprefix("/"), str(reference), source="config.json"),),
    )


RULE = Rule(
    code="ART117",
    name="remote-code",
    severity=Severity.ERROR,
    since="0.1.0",
    stages=BOTH,
    refuses_registration=True,
    check=check,
)

PASSES = (specimen(),)

FAILS = (
    specimen(config=config(auto_map={"AutoModel": "someone/their-repo--modeling_draft.DraftModel"})),
    specimen(
        config=config(auto_map={"AutoModel": "modeling_draft.DraftModel"}),
        inventory=inventory(python_files=("modeling_draft.py",)),
    ),
    specimen(config=config(auto_map={"AutoModel": "modeling_draft.DraftModel"})),
    specimen(config=config(auto_map={"AutoModel": 3})),
    specimen(config=config(auto_map="modeling_draft.DraftModel")),
    specimen(config=config(text_config={"auto_map": {"AutoModel": "someone/their-repo--modeling_draft.DraftModel"}})),
)
