"""SGLang profiles from `sglang.json`: every row of a version becomes facts, checked against the row's own examples."""

import json
import re
from dataclasses import replace
from typing import Final, Literal

from registry.domain.dialects import UNRESOLVED
from registry.domain.profile import Graphs, IdKey, LaunchFacts, Profile, Runner, TargetFacts
from registry.domain.versions import Version
from registry.engines.capture import left_captured
from tools.profiles_from_facts.rows import FactsError, Row, only
from tools.profiles_from_facts.sglang_drafts import draft_facts

ROWS_OF: Final = {
    "0.5.9": "0.5.9",
    "0.5.10": "0.5.10",
    "0.5.10.post1": "0.5.10.post1",
    "0.5.11": "0.5.11",
    "0.5.12": "0.5.12",
    "0.5.12.post1": "0.5.12",
    "0.5.13": "0.5.13.post1",
    "0.5.14": "0.5.14",
    "0.5.23": "0.5.23",
}
"""Shipped version -> the version whose rows describe it.

Two wheels have no rows of their own. In both, every setter cited by the neighbor's rows was found at the same file and
line, no other file of `models/` defines one, and the draft classes were compared.
"""

_RULES: Final = (
    ("depth=id+1;", "plus_one"),
    ("if ids and ids[0]==1:", "first_is_one"),
    ("if ids and max(ids)==num_hidden_layers:", "max_is_depth"),
    ("NO CAPTURE:", "plus_one"),
    ("setter takes no ids;", "fixed_default"),
    ("capture list = ids+1", UNRESOLVED),
)
_DEFAULTS: Final = {"[2, n//2, n-3]": "early_middle_late", "[3, n//2+1, n-2]": "early_middle_late_plus_one"}
_EXAMPLE = re.compile(r"^(null|\[[-0-9, ]*\])@(\d+)$")
_LAUNCH: Final = LaunchFacts(algorithm="EAGLE3", startup_pass=True, skip_startup_pass="--skip-server-warmup")  # noqa: S106  # an option, no password
"""http_server.py: a real request is answered before the server's status becomes Up, and a failing one ends the process
(`_execute_server_warmup`, read at 0.5.9, 0.5.12.post1, 0.5.13 and 0.5.23)."""

_NESTED: Final = "/eagle_config/eagle_aux_hidden_state_layer_ids"


def profiles(rows: tuple[Row, ...]) -> tuple[Profile, ...]:
    """Return the profiles of every upstream build in `ROWS_OF`, without digests and without the overlay.

    Raises:
        FactsError: a version has no rows, or a row's facts disagree with its executed examples.
    """
    return tuple(_profile(version, rows, source) for version, source in ROWS_OF.items())


def _profile(version: str, rows: tuple[Row, ...], source: str) -> Profile:
    captures = only(rows, kind="eagle3_capture", version=source)
    if not captures:
        raise FactsError(f"sglang.json has no eagle3_capture row of version {source}")
    targets = {row["model_class"]: target_facts(row) for row in captures}
    drafts = tuple(draft_facts(row) for row in only(rows, kind="draft_arch", version=source))
    return Profile(
        engine="sglang",
        version=version,
        digest="",
        targets=dict(sorted(targets.items())),
        runners=(_runner(only(rows, kind="draft_config_read", version=source)[0]),),
        graphs=_graphs(version),
        drafts=drafts,
        launch=_LAUNCH,
    )


def target_facts(row: Row) -> TargetFacts:
    """Return the facts of one `eagle3_capture` row, after replaying the row's examples through them.

    Raises:
        FactsError: an example of the row comes out differently.
    """
    rule: str = row["ids_to_depth"]["rule"]
    dialect = next((name for start, name in _RULES if rule.startswith(start)), None)
    if dialect is None:
        raise FactsError(f"{_name(row)}: the rule {rule!r} is none that dialects know")
    facts = _unresolved(row) if dialect == UNRESOLVED else _resolved(row, dialect)
    for example, expected in row["ids_to_depth"]["examples"].items():
        if replay(facts, example) != expected:
            raise FactsError(f"{_name(row)}: {example} reads {replay(facts, example)}, and was seen to give {expected}")
    return facts


def replay(facts: TargetFacts, example: str) -> object:
    """Return what `facts` make of an example such as `[2,30,58]@61`, in the notation of the facts file.

    Raises:
        FactsError: `example` is not of that form.
    """
    match = _EXAMPLE.match(example)
    if match is None:
        raise FactsError(f"{example!r} is not an example: expected IDS@LAYERS")
    captured = left_captured(facts, json.loads(match[1]), layers=int(match[2]))
    if facts.dialect == "fixed_default" and captured.raises:
        return {"error": "setter takes no ids"}
    return {"error": "IndexError: list index out of range"} if captured.raises else list(captured.depths or ())


def _resolved(row: Row, dialect: str) -> TargetFacts:
    capture, examples = row["capture"], row["ids_to_depth"]["examples"]
    raises = any("IndexError" in str(outcome) for outcome in examples.values())
    marks = capture["kind"] == "marker"
    nothing = row["ids_to_depth"]["rule"].startswith("NO CAPTURE")
    branch = row.get("residual_added") is False
    facts = TargetFacts(
        target_class=row["model_class"],
        dialect=dialect,
        default=_default(row),
        captures="nothing" if nothing else "listed",
        stream="branch" if branch else "residual",
        depth_zero="raises" if capture["depth0"].startswith("TypeError") else "captured",
        depth_n="captured" if capture["captures_depth_n"] else "dropped",
        out_of_range="raises" if raises else "dropped",
        negative=_negative(raises=raises, marks=marks),
        accumulates=marks and not nothing,
        last_pipeline_rank_only=row["pp_last_rank_only"],
        delegates_to=row.get("delegate_class"),
        at=row["setter"],
    )
    return replace(facts, note=row["capture_value_note"]) if row.get("capture_value_note") else facts


def _negative(*, raises: bool, marks: bool) -> Literal["dropped", "from_end"]:
    # A setter that indexes the list of layers takes -1 for the last of them; the mark it leaves there is then read.
    # One that also fills a list which the forward pass compares with layer numbers never meets a negative number.
    return "from_end" if raises and marks else "dropped"


def _unresolved(row: Row) -> TargetFacts:
    return TargetFacts(
        target_class=row["model_class"],
        dialect=UNRESOLVED,
        default=UNRESOLVED,
        captures="unresolved",
        depth_zero="unresolved",
        depth_n="unresolved",
        last_pipeline_rank_only=row["pp_last_rank_only"],
        delegates_to=row.get("delegate_class"),
        note="the class has a setter; where its forward pass captures was not traced",
        at=row["setter"],
        established="read",
    )


def _default(row: Row) -> str:
    rule = row["ids_to_depth"]["rule"]
    if rule.startswith("NO CAPTURE"):
        return "early_middle_late"
    match = re.search(r"null -> depths (\[[^]]*\])", rule)
    if match is None or match[1] not in _DEFAULTS:
        raise FactsError(f"{_name(row)}: no known default in {rule!r}")
    return _DEFAULTS[match[1]]


def _runner(row: Row) -> Runner:
    return Runner(
        keys=(IdKey(pointer=_NESTED),),
        capture_off="/eagle_config/use_aux_hidden_state" if row["use_aux_hidden_state_honoured"] else None,
        empty_ids="nothing",
        at=row["file"],
    )


def _graphs(version: str) -> Graphs:
    """Order of calls, read in the wheels: before 0.5.11 the configured ids are set after the graphs are captured."""
    number = Version.parse(version)
    hold = number >= Version.parse("0.5.11")
    if not hold:
        at = "sglang/srt/model_executor/model_runner.py: init_device_graphs, then set_eagle3_layers_to_capture(ids)"
    elif number < Version.parse("0.5.16"):
        at = "sglang/srt/model_executor/model_runner.py: init_aux_hidden_state_capture, then init_device_graphs"
    else:
        at = "sglang/srt/model_executor/model_runner_components/attention_backend_setup.py"
    return Graphs(ids_hold=hold, disable_option="--disable-cuda-graph", cost="slower decoding: no CUDA graphs", at=at)


def _name(row: Row) -> str:
    return f"sglang {row['version']} {row['model_class']}"
