"""No draft class of this build loads what the config names in `architectures`.

## What it checks
The first of `architectures` against the draft classes of the build. Where it does not fit, whether the tensors have
the layout of one of those classes: then only the config is wrong.

## Why it matters
Public heads often name the target's class. The build then makes a plain model of it and fails on the first tensor, or
does not know the name at all.

## Example
`"architectures": ["Qwen3ForCausalLM"]` beside tensors `midlayer.*` and `fc.weight`.

## How to fix
Name the draft class that fits the tensors (`LlamaForCausalLMEagle3` for most). The weights stay as they are. An
EAGLE-3 layer attends over embedding and hidden state side by side: its `q_proj` takes 2 x hidden size columns.

## Limits
Names and shapes are compared, not values.

## References
Public reports: sglang #9135, AngelSlim #39, sglang #33966.
"""

from collections.abc import Iterator

from registry.domain.case import Case
from registry.domain.findings import Finding, Remedy, Severity
from registry.rules import evidence
from registry.rules.drafter import build_name, fitting_class, layer_input, whole
from registry.rules.rule import Rule
from registry.rules.specimen import config, drafted, failure, inventory, reading, specimen


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when the draft class is not one of the build's."""
    draft = case.reading.draft if case.reading else None
    if draft is None or case.profile is None:
        return
    refused = case.reading.failure("draft_class") if case.reading else None
    if draft.supported and refused is None:
        return
    named = draft.architecture or "nothing"
    fitting = fitting_class(case)
    start = f"the config names {named} in architectures, and {build_name(case)} loads no such draft class"
    yield Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=f"{start}; {_advice(case, fitting)}",
        at="/draft_config/architectures",
        remedies=(Remedy.CONFIG,) if fitting else (Remedy.ENGINE,),
        evidence=(
            evidence.configured(case, "/architectures", case.config.get("architectures")),
            evidence.of_build(case, "draft classes", [name for d in case.profile.drafts for name in d.architectures]),
            evidence.stored("columns of the layer's q_proj", layer_input(case)),
        ),
    )


def _advice(case: Case, fitting: str | None) -> str:
    hidden, columns = whole(case.config, "hidden_size"), layer_input(case)
    if fitting is not None:
        return (
            f"its tensors have the layout of {fitting} (q_proj takes {columns} = 2 x {hidden} columns): name that, "
            "the weights stay as they are"
        )
    if columns is not None and hidden is not None and columns != 2 * hidden:
        return f"the layer's q_proj takes {columns} columns, and an EAGLE-3 layer takes 2 x {hidden}"
    return "its tensors do not have the layout of any draft class of this build"


RULE = Rule(
    code="ENG103",
    name="draft-class-unsupported",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "profile", "reading"}),
    check=check,
)

_PLAIN = drafted(architecture="Qwen3ForCausalLM", supported=False)

PASSES = (specimen(),)

FAILS = (
    specimen(config=config(architectures=["Qwen3ForCausalLM"]), reading=_PLAIN),
    specimen(inventory=inventory(adding={"midlayer.self_attn.q_proj.weight": (64, 64)}), reading=_PLAIN),
    specimen(reading=reading(failures=failure("draft_class", "no draft class loads it"))),
)
