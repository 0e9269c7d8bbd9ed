"""Published draft configs, each with a plausible drafter, judged on every shipped build: never a crash, always sense.

The configs lie beside a development checkout; where they do not, the tests are skipped with that reason.
"""

import json
from pathlib import Path

import pytest
from fakes.eagle3 import head, proposal, provenance, subject, target

from registry.domain.findings import Severity
from registry.services.judging import judge, judge_registration
from registry.services.profiles import ShippedProfiles

PROFILES = ShippedProfiles()
BUILDS = [f"{name}=={version}" for name in PROFILES.engines() for version in PROFILES.versions(name)]
FOLDER = Path(__file__).parents[3] / "shared" / "configs"
CONFIGS = sorted(FOLDER.glob("*.json"))

SERVED = {
    "deepseek-v2-lite": ("DeepseekV2ForCausalLM", 27), "gemma3-1b": ("Gemma3ForCausalLM", 26),
    "glm-5.2": ("GlmMoeDsaForCausalLM", 78), "gpt-oss-20B": ("GptOssForCausalLM", 24),
    "ling-flash": ("BailingMoeV2ForCausalLM", 32), "llama3-8B": ("LlamaForCausalLM", 32),
    "llama4-scout": ("Llama4ForConditionalGeneration", 48), "longcat": ("LongcatFlashForCausalLM", 28),
    "phi4": ("Phi3ForCausalLM", 40), "qwen2.5-0.5b": ("Qwen2ForCausalLM", 24),
    "qwen2.5-vl": ("Qwen2_5_VLForConditionalGeneration", 64), "qwen3-235B": ("Qwen3MoeForCausalLM", 94),
    "qwen3-30B": ("Qwen3MoeForCausalLM", 48), "qwen3-coder-30B": ("Qwen3MoeForCausalLM", 48),
    "qwen3-next": ("Qwen3NextForCausalLM", 48), "qwen3.5-35b": ("Qwen3_5MoeForConditionalGeneration", 40),
    "qwq-32B": ("Qwen2ForCausalLM", 64),
}  # fmt: skip
"""Start of a file's name -> target class and layers; the rest is taken for a dense Qwen3 of 36 layers."""


def drafter_of(path):
    body = json.loads(path.read_text())
    target_class, layers = next(
        (served for start, served in SERVED.items() if path.name.startswith(start)), ("Qwen3ForCausalLM", 36)
    )
    hidden, vocab = body["hidden_size"], body["vocab_size"]
    served = target(target_class, layers=layers, hidden=hidden, vocab=vocab, dense="Moe" not in target_class)
    inventory = head(body, hidden=hidden, vocab=vocab, rows=body.get("draft_vocab_size", vocab))
    return subject(inventory, provenance((2, layers // 2, layers - 3)), served)


@pytest.mark.skipif(not CONFIGS, reason=f"no published configs at {FOLDER}")
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_published_config_gets_a_sensible_verdict(path, build):
    drafter = drafter_of(path)
    verdict = judge(drafter, proposal(build), profiles=PROFILES)
    for finding in (*verdict.findings, *judge_registration(drafter, profiles=PROFILES)):
        assert "result of rule" not in (finding.unknown or ""), finding.message
    body = drafter.inventory.config
    codes = {finding.code for finding in verdict.findings if finding.severity is Severity.ERROR}
    eagle = body["architectures"] == ["LlamaForCausalLMEagle3"]
    ids = (body.get("eagle_config") or {}).get("eagle_aux_hidden_state_layer_ids")
    if eagle and ids is None and not codes & {"ENG102"}:
        # Trained where every default lies: served by luck of the default, and the verdict says so.
        assert codes <= {"TAP101", "TAP104", "TAP108"}, verdict.findings
        assert "TAP104" in {finding.code for finding in verdict.findings}
    if not eagle and build.startswith("sglang"):
        assert verdict.decision == "block"
        assert codes & {"ENG103", "ENG102"}
    assert verdict.headline
