"""The configured ids do not reach the decode graphs, which keep the default taps.

## What it checks
Whether this build captures its decode (CUDA) graphs before it sets the configured ids, while the graphs are on and
the class's default is not what the drafter was trained on.

## Why it matters
Prefill and eager passes use the ids, decoding uses the default. A config that is right to the last digit then gives
low acceptance, and reading the config shows nothing.

## Example
SGLang up to 0.5.10.post1 with `[2, 30, 58]` on Kimi-K2.5: prefill captures 3, 31, 59, decode graphs 2, 30, 58.

## How to fix
Start without CUDA graphs, which is slower, or use a release that sets the ids before it captures graphs.

## Limits
Order of calls as read in the source of the build.

## References
SGLang `cuda_graph_runner.py` and `model_runner.py` of 0.5.9 to 0.5.10.post1; fixed in 0.5.11 (sglang #22836).
"""

from collections.abc import Iterator

from registry.domain.case import Case, LineageEntry
from registry.domain.findings import Finding, Remedy, Severity
from registry.domain.profile import Graphs
from registry.domain.taps import spell
from registry.rules import evidence
from registry.rules.drafter import used_at
from registry.rules.rule import Rule
from registry.rules.specimen import phases, profile, reading, specimen
from registry.rules.tap_remedies import is_inexpressible


def check(case: Case) -> Iterator[Finding]:
    """Yield one finding when decode graphs hold the default and that is not what was trained."""
    read, wanted, profile = case.reading, case.trained.taps, case.profile
    if read is None or read.taps is None or wanted is None or profile is None:
        return
    if read.decode_graphs != "default" or read.taps.decode == wanted:
        return
    graphs = profile.graphs
    yield Finding(
        code=RULE.code,
        severity=Severity.ERROR,
        message=(
            f"decode graphs keep the default{_ways_out(case, graphs)} (they hold {spell(read.taps.decode)} whatever "
            f"the ids, and training had {spell(wanted)}; prefill reads {spell(read.taps.prefill)})"
        ),
        at=used_at(case),
        remedies=(Remedy.CONFIG, Remedy.ENGINE) if _is_mendable(case, graphs) else (Remedy.ENGINE,),
        evidence=(
            evidence.trained(case),
            evidence.effective(case, "decode", read.taps.decode),
            evidence.of_build(case, "ids hold in decode graphs", value=False, at=graphs.at),
        ),
    )


def _is_mendable(case: Case, graphs: Graphs) -> bool:
    return graphs.disable_option is not None and not is_inexpressible(case)


def _ways_out(case: Case, graphs: Graphs) -> str:
    """Name the option and the releases that help; neither does where no ids read as the trained taps."""
    return "" if is_inexpressible(case) else f"; {_named_ways(case, graphs)}"


def _named_ways(case: Case, graphs: Graphs) -> str:
    option = f"`{graphs.disable_option}` ({_cost(graphs)})" if graphs.disable_option else ""
    releases = _releases(case)
    if option and releases:
        return f"either {option} or {releases}"
    return option or releases or "no listed release sets the ids before it captures graphs"


def _cost(graphs: Graphs) -> str:
    return graphs.cost if "slower" in graphs.cost else f"slower{', ' if graphs.cost else ''}{graphs.cost}"


def _releases(case: Case) -> str:
    """Name the stretch of releases where the same ids read the same and hold in decode graphs, else the first one."""
    alike = [entry.version for entry in case.lineage.entries if _is_alike(case, entry)]
    prefill_is_right = (
        case.reading is not None and case.reading.taps is not None and (case.reading.taps.prefill == case.trained.taps)
    )
    if alike and prefill_is_right:
        stretch = alike[0] if len(alike) == 1 else f"{alike[0]} to {alike[-1]}"
        return f"{stretch} with the same config"
    first = case.lineage.first_ids_in_graphs()
    return f"{first} or later, with the ids that it reads as the trained taps" if first else ""


def _is_alike(case: Case, entry: LineageEntry) -> bool:
    facts = case.target_facts
    counts_alike = facts is not None and entry.facts is not None and entry.facts.dialect == facts.dialect
    return entry.supported and entry.ids_hold_in_graphs and counts_alike


RULE = Rule(
    code="ENG105",
    name="ids-lost-in-decode-graphs",
    severity=Severity.ERROR,
    since="0.1.0",
    parts=frozenset({"proposal", "profile", "reading"}),
    check=check,
)

PASSES = (specimen(), specimen(reading=reading(decode_graphs="default")))

FAILS = (
    specimen(reading=reading(taps=phases((3, 31, 59), (2, 30, 58)), decode_graphs="default")),
    specimen(
        profile=profile(graphs=Graphs(ids_hold=False)),
        reading=reading(taps=phases((0, 3, 31), (2, 30, 58)), decode_graphs="default"),
    ),
)
