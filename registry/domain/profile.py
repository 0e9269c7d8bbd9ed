"""A profile: what one engine build does, as data. Rules and readers never look at a version number, only at this.

Facts carry `at` (file and line in the build's source) and `established` (how the fact was found).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Established = Literal["evaluated", "read", "curated"]
"""`evaluated`: the engine's function was run on probe ids; `read`: read in its source; `curated`: put in by hand."""


AddedOrigin = Literal["added", "node"]
"""`added`: somebody wrote or corrected the profile, with a reason; `node`: a node scanned the engine it runs."""

Origin = Literal["shipped", "added", "node"]
"""Where a profile comes from: with the software itself, or added to a registry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What a class's setter and forward pass did with one list of ids, when they were run."""

    ids: tuple[int, ...] | None
    """None: the setter was called without ids."""
    layers: int
    """Decoder layers of the target it was run on."""
    depths: tuple[int, ...] | None = None
    """Depths that were captured, ascending and each once; None where something raised."""
    asked: tuple[int, ...] = ()
    """Where the pass raised: the depths that the setter had asked for."""
    setter_raises: str = ""
    pass_raises: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFacts:
    """What a build does with one target class."""

    target_class: str
    missing_methods: tuple[str, ...] = ()
    """Methods EAGLE-3 needs on the class and that it lacks; empty means supported."""
    needed_methods: tuple[str, ...] = ()
    """Of the missing ones, those that serving really calls."""
    dialect: str
    """How ids become depths in the class's setter: a name in `dialects.NAMES`."""
    default: str
    """What is captured without ids: a name in `dialects.DEFAULTS`."""
    captures: Literal["listed", "nothing", "unresolved"] = "listed"
    """`nothing`: the setter fills a list that the forward pass does not read."""
    stream: str = "residual"
    depth_zero: Literal["captured", "raises", "unresolved"] = "captured"
    """`raises`: capturing the embedding output fails on the pass (residual is None there)."""
    depth_n: Literal["captured", "dropped", "unresolved"] = "dropped"
    out_of_range: Literal["dropped", "raises"] = "dropped"
    """What the setter does with a depth above the layer count, and with N where N is not captured."""
    negative: Literal["dropped", "from_end"] = "dropped"
    """`from_end`: a negative depth counts from the last layer (Python indexing of the layer list)."""
    accumulates: bool = False
    """The setter marks layers and never unmarks them: a second call adds to what an earlier one asked for."""
    refused: str = ""
    """Why the build refuses EAGLE-3 on the class although no method is missing, in words; empty where it does not."""
    last_pipeline_rank_only: bool = False
    delegates_to: str | None = None
    """The class whose setter a wrapper calls."""
    note: str = ""
    at: str = ""
    established: Established = "evaluated"
    probes: tuple[Probe, ...] = ()
    """The probe table that the facts were fitted to, where the class was run."""

    @property
    def supported(self) -> bool:
        """Whether EAGLE-3 can be served on this class at all."""
        return not self.needed_methods and not self.refused


@dataclass(frozen=True, slots=True, kw_only=True)
class IdKey:
    """One place of the draft config where a runner looks for ids, and how it counts them there."""

    pointer: str
    """JSON Pointer into the draft config, such as `/eagle_config/eagle_aux_hidden_state_layer_ids`."""
    dialect: str = "identity"
    """Applied before the target class's own dialect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """One model runner of a build: where it reads ids, and for which targets it is the default."""

    name: str | None = None
    """`v1`, `v2`, or None for an engine with a single runner."""
    keys: tuple[IdKey, ...]
    """In order of precedence: the first that holds ids wins."""
    default_for: Literal["all", "none", "dense"] = "all"
    default_classes: tuple[str, ...] = ()
    """Target classes it is the default for beyond `default_for`."""
    capture_off: str | None = None
    """JSON Pointer of the flag that, when false, turns capturing off; None where the build ignores it."""
    empty_ids: Literal["default", "nothing"] = "default"
    """What an empty list means: no ids, so the default; or a list of nothing, so nothing is captured."""
    startup_runs_fc: bool = True
    """The pass before healthy runs the draft's `fc` too: a wrong number of taps then fails the start, not a request."""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graphs:
    """Whether configured ids hold in the decode graphs (CUDA graphs)."""

    ids_hold: bool
    """False: the graphs are captured before the ids are set, so they keep the class's default."""
    disable_option: str | None = None
    """The launch option that turns the graphs off."""
    cost: str = ""
    """What that option costs, in words."""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename:
    """One rewriting of tensor names while loading: `old` becomes `new`."""

    old: str
    new: str
    anchored: bool = False
    """True: only at the start of the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFacts:
    """What a build's draft class does with a drafter's config and tensors."""

    architectures: tuple[str, ...]
    """Names in `architectures` that load this class."""
    parameters: tuple[str, ...]
    """Canonical parameter names that a one-layer drafter must fill, `layers.0.` for the layer."""
    optional: tuple[str, ...] = ()
    """Canonical names that are filled when present: biases, norms, buffers."""
    renames: tuple[Rename, ...] = ()
    """Applied in order; what then is no known parameter is unknown."""
    layer_prefixes: tuple[str, ...] = ("midlayer.", "layers.0.")
    """Spellings of the decoder layer's prefix that this class loads."""
    legacy_names: tuple[str, ...] = ()
    """Prefixes that still load but are no longer the build's own name, such as `midlayer.`."""
    model_prefix: Literal["accepted", "doubled"] = "accepted"
    """What happens to names that already start with `model.`."""
    unknown_tensor: Literal["dropped", "warned", "refused"] = "dropped"
    missing_tensor: Literal["untouched", "refused"] = "untouched"
    many_layers: bool = False
    """More than one decoder layer is allowed."""
    tap_count: tuple[str, ...] = ()
    """Where the width of `fc` comes from, in order: `num_aux_hidden_states`, `nested`, `top_level`; then 3."""
    flags: Mapping[str, Literal["honored", "ignored"]] = field(default_factory=dict)
    """Draft semantics flags this class knows; a flag not listed is ignored."""
    head_shared: Literal["null_draft_vocab", "absent", "never"] = "never"
    """When the target's head is used: `draft_vocab_size` is null, or the drafter has no `lm_head`."""
    embedding_shared: Literal["always", "absent_or_equal"] = "always"
    """`always`: the target's embedding replaces the drafter's unless widths differ."""
    fc_bypass: bool = False
    """`fc` runs only when the incoming width differs from the embedding's; equal widths skip it without a word."""
    missing_d2t: Literal["identity"] = "identity"
    """Without `d2t` and with a reduced vocabulary, draft id k is taken as target id k."""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """One local patch of a fork."""

    name: str
    purpose: Literal["wrapper", "capture", "debug"]
    summary: str
    files: tuple[str, ...] = ()
    active_depths: tuple[int, ...] = ()
    """For `capture`: the depths whose capture the patch adds; it is dormant while none of them is asked for."""
    upstream_since: str | None = None
    """First release that has the same, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFacts:
    """Launch options that readings need, and the values an emission must state."""

    algorithm: str
    """The value that selects EAGLE-3."""
    startup_pass: bool = False
    """The build runs a forward pass before it reports itself healthy, so a failing pass is a failed start."""
    skip_startup_pass: str | None = None
    """The option that skips that pass."""
    default_draft_steps: int = 3
    """Draft steps when nothing says otherwise, for a chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What one engine build does."""

    engine: str
    version: str
    revision: int = 1
    """A correction to a profile is a new revision of it."""
    digest: str
    """`sha256:` over the profile document's canonical bytes."""
    upstream: str | None = None
    """For a fork: the release it was made from."""
    targets: Mapping[str, TargetFacts]
    runners: tuple[Runner, ...]
    graphs: Graphs
    drafts: tuple[DraftFacts, ...]
    launch: LaunchFacts
    patches: tuple[Patch, ...] = ()
    evidence: Mapping[str, object] = field(default_factory=dict)
    """Where a scan found each fact, and how: probe tables, places, what it could not establish. Readings ignore it."""

    @property
    def build(self) -> str:
        """`engine==version`, as proposals name it."""
        return f"{self.engine}=={self.version}"

    @property
    def citation(self) -> str:
        """The profile as verdicts cite it: build, revision and the start of its digest."""
        return f"{self.build} rev {self.revision} {self.digest[:19]}"

    def draft(self, architecture: str) -> DraftFacts | None:
        """Return the draft class that loads `architecture`, or None."""
        return next((draft for draft in self.drafts if architecture in draft.architectures), None)
