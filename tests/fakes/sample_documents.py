"""Documents of the founding case, one of every kind, as plain JSON values that tests may change."""

import copy

from registry.documents import proposal

WEIGHTS = "blake3:" + "a" * 64
SHA = "sha256:" + "b" * 64
OTHER_SHA = "sha256:" + "c" * 64
REF = "moonshotai/Kimi-K2.5-eagle3@1"
TAPS = [{"depth": depth, "stream": "residual", "norm": "none"} for depth in (3, 31, 59)]

Json = dict[str, object]


def provenance_document() -> Json:
    return {
        "schema": "roost.provenance/1",
        "target": {"name": "moonshotai/Kimi-K2.5", "revision": "4d3b2a1c", "digest": SHA},
        "capture": {
            "tool": "sglang-dump-patch",
            "version": "0.5.9+dump1",
            "source": "dump.patch",
            "counting": "before_layer",
            "stream": "residual",
            "layers": [3, 31, 59],
            "verifier_state": {"layer": 61, "norm": "none"},
        },
        "standardization": {"name": "standardize_data_v1", "tool": "speculators", "version": "0.4.0"},
        "tokenizer_digest": SHA,
        "chat_template_digest": SHA,
        "training": {
            "trainer": "speculators",
            "version": "0.4.0",
            "commit": "deadbeef",
            "max_length": 4096,
            "rope_theta": 50000.0,
            "steps": 21000,
            "draft_depth": 7,
        },
        "data": {"samples": 100000, "tokens": 180000000, "cost_usd": 86.0, "digest": SHA},
    }


def smallest_provenance() -> Json:
    return {
        "schema": "roost.provenance/1",
        "target": {"name": "kimi"},
        "capture": {"tool": "t", "counting": "after_layer", "stream": "residual", "layers": [2]},
        "standardization": {"name": "standardize_data_v0"},
    }


def target_document() -> Json:
    text = {"num_hidden_layers": 61, "hidden_size": 7168, "vocab_size": 163840, "n_routed_experts": 384}
    config = {"architectures": ["KimiK25ForConditionalGeneration"], "text_config": text}
    return {"schema": "roost.target/1", "name": "moonshotai/Kimi-K2.5", "revision": "4d3b2a1c", "config": config}


def proposal_document() -> Json:
    return {
        "schema": "roost.proposal/1",
        "checkpoint": REF,
        "engine": "sglang==0.5.23",
        "target": "moonshotai/Kimi-K2.5",
        "draft_config": {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [3, 31, 59]}},
        "launch": "--disable-cuda-graph",
    }


def finding_document() -> Json:
    return {
        "code": "TAP101",
        "severity": "warning",
        "remedies": ["config", "engine"],
        "message": "decode captures 2, 30, 58; trained on 3, 31, 59",
        "at": "/draft_config/eagle_config",
        "evidence": [{"fact": "taps", "value": [3, 31, 59], "source": "provenance", "grade": "declared"}],
        "suggested": {
            "draft_config": [{"op": "replace", "path": "/ids", "value": [3, 31, 59]}],
            "launch": ["--disable-cuda-graph"],
            "decision": "pass",
            "text": "use [3, 31, 59]",
        },
    }


def verdict_document() -> Json:
    return {
        "schema": "roost.verdict/1",
        "decision": "warn",
        "remedy": "none",
        "outcome": "serves",
        "headline": "works on sglang 0.5.23",
        "engine": "sglang==0.5.23",
        "runner": None,
        "unknown": ["target digest"],
        "trained_taps": copy.deepcopy(TAPS),
        "effective_taps": {"prefill": copy.deepcopy(TAPS), "decode": copy.deepcopy(TAPS)},
        "findings": [finding_document(), {**finding_document(), "code": "TGT201", "suggested": None}],
        "not_judged": ["launch"],
        "look_next": ["draft temperature"],
        "retrain_cost": {"reused_usd": 86.0},
        "profile": "sglang==0.5.23 rev 1 sha256:bbbbbbbbbbbb",
        "rules": "1",
    }


def lock_document() -> Json:
    proposed = proposal_document() | {"launch": "--speculative-algorithm EAGLE3 --disable-cuda-graph"}
    return {
        "schema": "roost.lock/1",
        "checkpoint": REF,
        "weights_digest": WEIGHTS,
        "provenance": {"revision": 2, "document": provenance_document()},
        "target": target_document(),
        "engine": "sglang==0.5.23",
        "runner": None,
        "profile": "sglang==0.5.23 rev 1 sha256:bbbbbbbbbbbb",
        "profile_digest": SHA,
        "proposal": proposed,
        "proposal_digest": proposal.digest(proposal.parse(proposed)),
        "trained_taps": copy.deepcopy(TAPS),
        "effective_taps": {"prefill": copy.deepcopy(TAPS), "decode": copy.deepcopy(TAPS)},
        "findings": [finding_document()],
        "decision": "warn",
        "rules": "1",
        "launch": ["--speculative-algorithm", "EAGLE3", "--disable-cuda-graph"],
        "option_costs": [{"option": "--disable-cuda-graph", "cost": "slower decode"}],
        "files": [
            {"name": "config.json", "size": 12, "sha256": SHA},
            {"name": "plugin/kimi.py", "size": 0, "sha256": OTHER_SHA},
        ],
        "conversions": [{"what": "fc columns permuted", "before": WEIGHTS, "after": "blake3:" + "d" * 64}],
    }


def checkpoint_document() -> Json:
    name, _, version = REF.partition("@")
    return {
        "schema": "roost.checkpoint/1",
        "ref": REF,
        "name": name,
        "version": int(version),
        "weights_digest": WEIGHTS,
        "files": [{"name": "model.safetensors", "size": 1024, "sha256": SHA, "role": "weights"}],
        "tensors": 15,
        "trained_taps": copy.deepcopy(TAPS),
        "why_unknown": "",
        "provenance_revision": 1,
        "target": "moonshotai/Kimi-K2.5",
        "target_revision": "4d3b2a1c",
        "layers": 61,
        "warnings": ["the target has no digest"],
        "linked": ["other/name@3"],
        "created": False,
        "created_at": "2026-01-31T12:00:00Z",
        "provenance": provenance_document(),
        "config": {"architectures": ["LlamaForCausalLMEagle3"]},
    }


def emission_document() -> Json:
    return {
        "schema": "roost.emission/1",
        "id": SHA,
        "checkpoint": REF,
        "engine": "sglang==0.5.23",
        "runner": None,
        "target": "moonshotai/Kimi-K2.5",
        "files": [
            {"name": "config.json", "size": 12, "sha256": SHA},
            {"name": "model.safetensors", "size": 1024, "sha256": OTHER_SHA, "source": "checkpoint"},
        ],
        "lock_digest": SHA,
        "verdict": verdict_document(),
        "options": ["--disable-cuda-graph"],
    }


def registration_document() -> Json:
    return {
        "schema": "roost.registration/1",
        "name": "moonshotai/Kimi-K2.5-eagle3",
        "provenance": provenance_document(),
        "files": [{"name": "model.safetensors", "size": 1024, "sha256": SHA}],
        "sources": [{"name": "dump.patch", "size": 10, "sha256": OTHER_SHA}],
    }


def amendment_document() -> Json:
    return {
        "schema": "roost.amendment/1",
        "provenance": provenance_document(),
        "reason": "the dump never held the embedding",
        "expected_revision": 1,
    }


def emission_request_document() -> Json:
    return {"schema": "roost.emission-request/1", "checkpoint": REF, "engine": "vllm==0.33.0", "runner": "v2"}


def engine_profile_document() -> Json:
    """A small fork with a probe table that its facts give."""
    return {
        "schema": "roost.engine-profile/1",
        "engine": "sglang",
        "version": "0.5.9+mine",
        "revision": 1,
        "upstream": "0.5.9",
        "targets": {
            "KimiK25ForConditionalGeneration": {
                "dialect": "plus_one",
                "default": "early_middle_late",
                "depth_zero": "raises",
                "probes": [
                    {"ids": None, "layers": 61, "depths": [2, 30, 58]},
                    {"ids": [2, 30, 58], "layers": 61, "depths": [3, 31, 59]},
                    {"ids": [-1, 2, 30], "layers": 61, "asked": [0, 3, 31], "pass_raises": "residual is None"},
                ],
            }
        },
        "runners": [{"keys": [{"pointer": "/eagle_config/eagle_aux_hidden_state_layer_ids"}]}],
        "graphs": {"ids_hold": True},
        "drafts": [{"architectures": ["LlamaForCausalLMEagle3"], "parameters": ["fc.weight"]}],
        "launch": {"algorithm": "EAGLE3"},
    }


def engine_profile_addition_document() -> Json:
    return {
        "schema": "roost.engine-profile-addition/1",
        "profile": engine_profile_document(),
        "origin": "added",
        "source_digest": SHA,
        "reason": "read in the source again",
    }


def matrix_request_document() -> Json:
    return {
        "schema": "roost.matrix-request/1",
        "checkpoint": REF,
        "engine": "sglang",
        "target": "moonshotai/Kimi-K2.5",
        "draft_config": {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [3, 31, 59]}},
        "launch": "--disable-cuda-graph",
    }


def matrix_row(**changes: object) -> Json:
    row: Json = {
        "engine": "sglang",
        "first": "0.5.13",
        "last": "0.5.23",
        "builds": 3,
        "upstream": None,
        "same_as": None,
        "decision": "block",
        "remedy": "config",
        "takes": "ids",
        "ids": [3, 31, 59],
        "pointer": "/eagle_config/eagle_aux_hidden_state_layer_ids",
        "settings": [],
        "options": [],
        "runner": None,
        "obstacle": "",
    }
    return {**row, **changes}


def matrix_document() -> Json:
    lacking = {"takes": "engine", "remedy": "engine", "ids": None, "pointer": None, "obstacle": "it lacks two methods"}
    settings = [{"key": "architectures", "value": ["LlamaForCausalLMEagle3"]}]
    fork = {"first": "0.5.9+ours", "last": "0.5.9+ours", "builds": 1, "upstream": "0.5.9", "same_as": "0.5.10"}
    return {
        "schema": "roost.matrix/1",
        "checkpoint": REF,
        "target": "moonshotai/Kimi-K2.5",
        "trained_taps": copy.deepcopy(TAPS),
        "proposed": False,
        "rows": [
            matrix_row(first="0.5.9", last="0.5.9", builds=1, **lacking),
            matrix_row(),
            matrix_row(takes="config", settings=settings, options=["--disable-cuda-graph"], **fork),
        ],
        "profiles": SHA,
        "rules": "1",
    }


def change_document() -> Json:
    return {
        "place": "/targets",
        "what": "dialect",
        "before": "plus_one",
        "after": "first_is_one",
        "sentence": "two classes count otherwise",
        "classes": ["DeepseekV3ForCausalLM", "KimiK25ForConditionalGeneration"],
    }


def effect_document(**changes: object) -> Json:
    effect: Json = {
        "checkpoint": REF,
        "target": "moonshotai/Kimi-K2.5",
        "effect": "ids",
        "facts_equal": False,
        "ids": [3, 31, 59],
        "pointer": "/eagle_config/eagle_aux_hidden_state_layer_ids",
        "options": ["--disable-cuda-graph"],
        "sentence": "sglang==0.5.13 needs other ids",
    }
    return {**effect, **changes}


def engine_diff_document() -> Json:
    return {
        "schema": "roost.engine-diff/1",
        "from": {"build": "sglang==0.5.12.post1", "profile": "sglang==0.5.12.post1 rev 1 sha256:bbbbbbbbbbbb"},
        "to": {"build": "sglang==0.5.13", "profile": "sglang==0.5.13 rev 1 sha256:cccccccccccc"},
        "changes": [change_document(), {**change_document(), "before": None, "after": {"listed": True}}],
        "checkpoints": {"items": [effect_document(), effect_document(effect="stay", ids=None)], "next": "cursor"},
    }


SAMPLES = {
    "provenance": provenance_document,
    "target": target_document,
    "proposal": proposal_document,
    "verdict": verdict_document,
    "lock": lock_document,
    "checkpoint": checkpoint_document,
    "emission": emission_document,
    "registration": registration_document,
    "amendment": amendment_document,
    "emission-request": emission_request_document,
    "engine-profile-addition": engine_profile_addition_document,
    "matrix-request": matrix_request_document,
    "matrix": matrix_document,
    "engine-diff": engine_diff_document,
}
"""Kind -> a function that makes a fresh valid document."""
