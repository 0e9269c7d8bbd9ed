"""Curated facts that have no row: each with the place in the source where it was read."""

from dataclasses import replace
from typing import Final

from registry.domain.profile import Patch, Profile, TargetFacts

_KIMI: Final = "KimiK25ForConditionalGeneration"
_QWEN2_MOE: Final = "Qwen2MoeForCausalLM"
_INNER: Final = "DeepseekV3ForCausalLM"
_DEEPSEEK_FILE: Final = "sglang/srt/models/deepseek_v2.py"
_KIMI_FILE: Final = "sglang/srt/models/kimi_k25.py"
_FOUNDING: Final = "0.5.9+founding"


def complete(profiles: tuple[Profile, ...]) -> tuple[Profile, ...]:
    """Return SGLang's profiles with the overlay applied and the founding case's fork beside the release it is of."""
    done: list[Profile] = []
    for profile in map(_with_qwen2_moe_mended, profiles):
        if profile.version != "0.5.9":
            done.append(profile)
            continue
        stock = _with_target(profile, _kimi_without_methods(profile))
        done += [stock, _founding(stock)]
    return tuple(done)


def _with_qwen2_moe_mended(profile: Profile) -> Profile:
    """Say that Qwen2-MoE cannot be served: its file names no `get_embed_and_head`, which the worker always calls.

    The rows were made from setters alone, and this class has the setter. Read at 0.5.9, 0.5.10.post1, 0.5.12.post1,
    0.5.13 and 0.5.23; a scan finds the same in every release between.
    """
    facts = profile.targets.get(_QWEN2_MOE)
    if facts is None:
        return profile
    missing = ("get_embed_and_head", "set_embed_and_head")
    return _with_target(profile, replace(facts, missing_methods=missing, needed_methods=missing[:1]))


def _with_target(profile: Profile, *facts: TargetFacts) -> Profile:
    targets = {**profile.targets, **{entry.target_class: entry for entry in facts}}
    return replace(profile, targets=dict(sorted(targets.items())))


def _kimi_without_methods(profile: Profile) -> TargetFacts:
    """Describe Kimi-K2.5 at 0.5.9: the class is there, with none of the three methods that 0.5.10 adds to it.

    The rest is what its language model does: it holds as soon as something gives the wrapper its methods.
    """
    return replace(
        profile.targets[_INNER],
        target_class=_KIMI,
        missing_methods=("set_eagle3_layers_to_capture", "get_embed_and_head", "set_embed_and_head"),
        needed_methods=("set_eagle3_layers_to_capture", "get_embed_and_head"),
        delegates_to=_INNER,
        note="a wrapper around a DeepSeek-V3 text model; serving calls set_embed_and_head on the draft only",
        at=f"{_KIMI_FILE}:648",
        established="curated",
    )


def _founding(stock: Profile) -> Profile:
    """Describe the founding case's fork: wrapper methods, capture of the embedding output, debug logging."""
    patched = [_captures_embedding(facts) for facts in stock.targets.values() if _is_deepseek(facts)]
    kimi = replace(_captures_embedding(stock.targets[_KIMI]), missing_methods=(), needed_methods=(), at=_KIMI_FILE)
    return replace(
        _with_target(stock, *patched, kimi), version=_FOUNDING, upstream=stock.version, patches=_FOUNDING_PATCHES
    )


def _is_deepseek(facts: TargetFacts) -> bool:
    """Tell whether a class runs the forward loop of `DeepseekV2Model`, which the fork patches."""
    return facts.at.startswith(_DEEPSEEK_FILE)


def _captures_embedding(facts: TargetFacts) -> TargetFacts:
    return replace(facts, depth_zero="captured", established="curated")


_FOUNDING_PATCHES: Final = (
    Patch(
        name="kimi-wrapper-methods",
        purpose="wrapper",
        summary=f"adds the three EAGLE-3 methods to {_KIMI}, each handing on to its language model",
        files=(_KIMI_FILE,),
        upstream_since="0.5.10",
    ),
    Patch(
        name="embedding-capture",
        purpose="capture",
        summary="captures the embedding output when depth 0 is asked for (id -1)",
        files=(_DEEPSEEK_FILE,),
        active_depths=(0,),
        upstream_since="0.5.14",
    ),
    Patch(
        name="debug-logging",
        purpose="debug",
        summary="logs captured layers and their values while serving",
        files=(_DEEPSEEK_FILE,),
    ),
)
