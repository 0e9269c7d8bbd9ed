"""Public reports, row by row, through the whole judgment with the shipped profiles.

Each test is named after its row. Cause and remedy are the row's, severity is the rule's; depths are what is stored.
"""

import json
import struct
from dataclasses import replace

import pytest
from fakes.eagle3 import (
    LAYER,
    OTHER_DIGEST,
    TOP,
    config,
    head,
    proposal,
    provenance,
    subject,
    target,
    vocab_map,
)
from fakes.safetensors_files import prefixed, safetensors_bytes, write_safetensors, write_sharded

from registry.artifacts.directory import inspect
from registry.documents.target import TargetDocument
from registry.domain.digests import Digest
from registry.domain.findings import Remedy, Severity
from registry.domain.reading import Outcome
from registry.domain.taps import depths_of
from registry.domain.tensors import Inventory, Tensor
from registry.engines.draft_config import apply
from registry.services.cases import Subject
from registry.services.emission import plan
from registry.services.judging import judge, judge_registration
from registry.services.profiles import ShippedProfiles
from registry.services.refusals import EmissionRefused

PROFILES = ShippedProfiles()
SGLANG = [f"sglang=={version}" for version in PROFILES.upstream("sglang")]
VLLM = [f"vllm=={version}" for version in PROFILES.upstream("vllm")]

LLAMA_70B = target("LlamaForCausalLM", layers=80, hidden=8192)
KIMI = target("KimiK25ForConditionalGeneration", layers=61, hidden=7168, vocab=163840, dense=False)
GLM = target("GlmMoeDsaForCausalLM", layers=78, hidden=6144, vocab=154880, dense=False)
QWEN3_14B = target("Qwen3ForCausalLM", layers=40, hidden=5120, vocab=151936)
QWEN3_MOE = target("Qwen3MoeForCausalLM", layers=94, hidden=4096, vocab=151936, dense=False)
VICUNA = target("LlamaForCausalLM", layers=40, hidden=5120, vocab=32000)
GPT_OSS = target("GptOssForCausalLM", layers=24, hidden=2880, vocab=201088, dense=False)
MISTRAL = target("MistralForCausalLM", layers=40, hidden=4096, vocab=32000)


def judged(drafter, engine, draft_config=None, **options):
    return judge(drafter, proposal(engine, draft_config, **options), profiles=PROFILES)


def registered(drafter):
    return {finding.code: finding for finding in judge_registration(drafter, profiles=PROFILES)}


def errors(verdict):
    return {finding.code for finding in verdict.findings if finding.severity is Severity.ERROR}


def the(verdict, code):
    return next(finding for finding in verdict.findings if finding.code == code)


def effective(verdict):
    taps = verdict.effective_taps
    return None if taps is None else (depths_of(taps.prefill), depths_of(taps.decode))


def outcome_of(verdict):
    return verdict.decision, verdict.remedy.value


def mended(drafter, engine, verdict, draft_config=None):
    """Return the verdict on the proposal after the suggested edit."""
    edit = next(finding.suggested for finding in verdict.findings if finding.suggested)
    stored = drafter.inventory.config if draft_config is None else draft_config
    launch = " ".join(edit.launch) or None
    return judged(drafter, engine, apply(stored, edit.draft_config), launch=launch)


def emitted(drafter, engine, served=None):
    """Return the emitted `config.json` and the launch options, or the refusal."""
    served = served or drafter.trained_target
    document = TargetDocument(target=served, config={})
    known = replace(drafter, weights_digest=Digest("sha256:" + "5" * 64))
    try:
        made = plan(known, proposal(engine), profiles=PROFILES, target=document, trained_target=document)
    except EmissionRefused as refusal:
        return refusal
    assert (depths_of(made.verdict.effective_taps.prefill)) == depths_of(made.verdict.trained_taps)
    assert made.verdict.effective_taps.prefill == made.verdict.effective_taps.decode
    return json.loads(made.written["config.json"])


def llama_head(ids=None, *, taps=(3, 40, 77), record=None, key=None, mapping="sound", **changes):
    """Return a head for Llama-3.3-70B; `changes` are keys of its config or shapes of its tensors."""
    shape = {name: changes.pop(name) for name in ("without", "adding", "layer") if name in changes}
    rows = changes.get("rows", 32000)
    where = {"key": key} if key else {}
    body = config(ids, hidden=8192, **where, **changes)
    inventory = head(body, hidden=8192, rows=128256 if rows is None else rows, mapping=mapping, **shape)
    return subject(inventory, record or provenance(taps), LLAMA_70B)


# --- layers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [*VLLM, *SGLANG])
def test_b01_undeclared_taps_are_an_error_that_config_mends(engine):
    drafter = llama_head(taps=(3, 41, 78))
    verdict = judged(drafter, engine)
    assert outcome_of(verdict) == ("block", "config")
    assert effective(verdict) == ((2, 40, 77), (2, 40, 77))
    assert errors(verdict) == {"TAP101", "TAP104"}
    assert "captures its default 2, 40, 77" in the(verdict, "TAP104").message
    assert "no retraining" in verdict.headline
    assert mended(drafter, engine, verdict).decision == "pass"


@pytest.mark.parametrize("engine", [VLLM[-1], SGLANG[-1]])
def test_b01_without_provenance_the_taps_stay_unknown_and_nothing_is_emitted(engine):
    drafter = llama_head(record=provenance((3, 41, 78), recipe="a step nobody knows"))
    verdict = judged(drafter, engine)
    assert outcome_of(verdict) == ("block", "unknown")
    assert "trained taps" in verdict.unknown
    assert not any(finding.suggested for finding in verdict.findings)
    assert isinstance(emitted(drafter, engine), EmissionRefused)


def kimi_head(ids, record):
    body = config(ids, hidden=7168, vocab_size=163840)
    return subject(head(body, hidden=7168, vocab=163840), record, KIMI)


def test_b03_an_old_build_needs_ids_minus_one_for_inputs_of_layers():
    drafter = kimi_head([2, 30, 58], provenance((2, 30, 58), counting="before_layer"))
    old, new = judged(drafter, "sglang==0.5.12.post1"), judged(drafter, "sglang==0.5.23")
    assert outcome_of(old) == ("block", "config")
    assert effective(old) == ((3, 31, 59), (3, 31, 59))
    assert "[1, 29, 57]" in the(old, "TAP101").suggested.text
    assert mended(drafter, "sglang==0.5.12.post1", old).decision == "pass"
    assert outcome_of(new) == ("pass", "none")
    assert "0.5.13 to 0.5.23 as is; 0.5.10 to 0.5.12.post1 with ids [1,29,57]" in new.headline


def test_b03_ids_that_start_with_one_mean_the_same_before_and_after_the_change():
    drafter = kimi_head([1, 29, 57], provenance((1, 29, 57), counting="after_layer"))
    for engine in SGLANG[1:]:
        assert outcome_of(judged(drafter, engine)) == ("pass", "none")


def test_b03_a_list_whose_counting_nobody_knows_is_unknown():
    verdict = judged(kimi_head([3, 29, 57], provenance((3, 29, 57), counting="as in the paper")), "sglang==0.5.23")
    assert outcome_of(verdict) == ("block", "unknown")
    assert verdict.trained_taps is None


def minimax_head(**where):
    body = config([2, 30, 57], hidden=3072, vocab_size=200064, **where)
    record = provenance((2, 30, 57), counting="sglang==0.5.9")
    served = target("MiniMaxM2ForCausalLM", layers=62, hidden=3072, vocab=200064, dense=False)
    return subject(head(body, hidden=3072, vocab=200064), record, served)


@pytest.mark.parametrize(("engine", "key", "captured"), [
    ("vllm==0.28.0", TOP, (2, 30, 57)),
    ("vllm==0.33.0", TOP, (2, 30, 57)),
    ("vllm==0.28.0", None, (2, 30, 57)),
    ("vllm==0.33.0", None, (2, 31, 59)),
])  # fmt: skip
def test_b04_ids_counted_by_sglang_are_one_layer_off_in_vllm(engine, key, captured):
    drafter = minimax_head(**({"key": key} if key else {}))
    verdict = judged(drafter, engine)
    assert depths_of(verdict.trained_taps) == (3, 31, 58)
    assert outcome_of(verdict) == ("block", "config")
    assert effective(verdict) == (captured, captured)
    assert "[3, 31, 58]" in the(verdict, "TAP101").suggested.text
    assert mended(drafter, engine, verdict).decision != "block"
    assert emitted(drafter, engine)["eagle_aux_hidden_state_layer_ids"] == [3, 31, 58]


def test_b04_the_build_it_was_captured_with_takes_its_ids_as_they_are():
    assert outcome_of(judged(minimax_head(), "sglang==0.5.12")) == ("pass", "none")


def four_taps():
    body = config([2, 46, 91, 93], key=TOP, hidden=4096, vocab_size=151936)
    return subject(head(body, hidden=4096, taps=4, vocab=151936), provenance((2, 46, 91, 93)), QWEN3_MOE)


@pytest.mark.parametrize("engine", ["vllm==0.28.0", "vllm==0.33.0"])
def test_b08_a_fourth_tap_needs_the_count_stated_where_the_engine_reads_it(engine):
    drafter = four_taps()
    verdict = judged(drafter, engine)
    assert outcome_of(verdict) == ("block", "config")
    assert "num_aux_hidden_states" in the(verdict, "TAP106").message
    assert "with ids [2,46,91,93] and num_aux_hidden_states 4" in verdict.headline
    assert mended(drafter, engine, verdict).decision == "pass"
    assert emitted(drafter, engine)["num_aux_hidden_states"] == 4


def test_b08_a_build_that_always_sizes_fc_for_three_is_in_the_way():
    drafter = four_taps()
    verdict = judged(drafter, "vllm==0.18.0")
    assert outcome_of(verdict) == ("block", "engine")
    assert the(verdict, "TAP103").remedies == (Remedy.ENGINE,)
    assert isinstance(emitted(drafter, "vllm==0.18.0"), EmissionRefused)


def last_state_head(**tensors):
    off = {"use_aux_hidden_state": False}
    inventory = head(
        config(hidden=2880, vocab_size=201088, eagle_config=off), hidden=2880, taps=1, vocab=201088, **tensors
    )
    return subject(inventory, provenance(()), GPT_OSS)


@pytest.mark.parametrize("without", [(), ("fc.weight",)])
@pytest.mark.parametrize("engine", ["vllm==0.18.0", "vllm==0.28.0", "vllm==0.33.0"])
def test_b10_a_head_of_no_taps_is_legal(engine, without):
    drafter = last_state_head(without=without)
    verdict = judged(drafter, engine)
    assert outcome_of(verdict) == ("pass", "none")
    assert effective(verdict) == ((), ())
    assert emitted(drafter, engine)["eagle_config"] == {"use_aux_hidden_state": False}


@pytest.mark.parametrize("engine", ["vllm==0.18.0", "vllm==0.28.0"])
def test_b10_the_runner_that_captures_all_the_same_is_avoided_by_the_other(engine):
    verdict = judged(last_state_head(), engine, runner="v2")
    assert outcome_of(verdict) == ("block", "config")
    assert "with V1 the config can switch it off" in the(verdict, "TAP101").message


def test_b10_a_build_without_the_switch_is_in_the_way():
    assert outcome_of(judged(last_state_head(), "vllm==0.11.2")) == ("block", "engine")
    assert outcome_of(judged(last_state_head(), "sglang==0.5.9")) == ("block", "engine")


def test_b10_sglang_sizes_fc_for_one_state_where_it_is_told():
    drafter = last_state_head()
    verdict = judged(drafter, "sglang==0.5.23")
    assert outcome_of(verdict) == ("block", "config")
    assert mended(drafter, "sglang==0.5.23", verdict).decision == "pass"
    assert outcome_of(judged(last_state_head(without=("fc.weight",)), "sglang==0.5.9")) == ("pass", "none")


def test_b10_an_fc_over_three_states_contradicts_a_record_of_none():
    inventory = head(config(hidden=2880, vocab_size=201088), hidden=2880, taps=3, vocab=201088)
    found = registered(subject(inventory, provenance(()), GPT_OSS))
    assert found["TAP106"].severity is Severity.ERROR


# --- the dump ---------------------------------------------------------------------------------------------------------


def glm_head(taps, record, ids=None):
    return subject(head(config(ids, hidden=6144, vocab_size=154880), hidden=6144, taps=taps, vocab=154880), record, GLM)


@pytest.mark.parametrize(("layers", "verifier", "states"), [
    ((8, 23, 38, 53, 68, 78), None, 5),
    ((8, 23, 38, 53, 68), 78, 4),
])  # fmt: skip
def test_b12_a_dump_of_one_state_fewer_than_asked_for_is_refused_at_registration(layers, verifier, states):
    found = registered(glm_head(states, provenance(layers, recipe="arrow", verifier=verifier)))
    assert found["TAP107"].severity is Severity.ERROR
    assert "verifier" in found["TAP107"].message


def test_b12_what_was_really_dumped_is_accepted():
    assert registered(glm_head(5, provenance((8, 23, 38, 53, 68), recipe="arrow", verifier=78))) == {}


@pytest.mark.parametrize("engine", ["sglang==0.5.9", "sglang==0.5.12.post1", "sglang==0.5.23"])
def test_b12_the_last_depth_as_a_tap_needs_a_build_that_captures_it(engine):
    verdict = judged(glm_head(3, provenance((38, 68, 78)), [38, 68, 78]), engine)
    assert outcome_of(verdict) == ("block", "engine")
    assert {"TAP103", "TAP108"} <= errors(verdict)
    # Nothing may be advised that does not help.
    assert not any(finding.suggested for finding in verdict.findings)
    assert all("use [" not in finding.message for finding in verdict.findings)
    assert all("--disable-cuda-graph" not in finding.message for finding in verdict.findings)


@pytest.mark.parametrize(("engine", "answer"), [
    ("vllm==0.18.0", ("block", "engine")), ("vllm==0.28.0", ("pass", "none")), ("vllm==0.33.0", ("pass", "none")),
])  # fmt: skip
def test_b12_vllm_captures_the_last_depth_of_kimi_from_0_28(engine, answer):
    body = config([38, 58, 61], key=TOP, hidden=7168, vocab_size=163840)
    drafter = subject(head(body, hidden=7168, vocab=163840), provenance((38, 58, 61)), KIMI)
    assert outcome_of(judged(drafter, engine)) == answer


# --- config and weights -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [*SGLANG, *VLLM])
def test_b14_the_targets_class_in_architectures_is_config_only(engine):
    body = config([2, 19, 36], hidden=5120, vocab_size=151936, architectures=["Qwen3ForCausalLM"])
    drafter = subject(head(body, hidden=5120, vocab=151936), provenance((3, 20, 37)), QWEN3_14B)
    verdict = judged(drafter, engine)
    assert outcome_of(verdict) == ("block", "config")
    assert errors(verdict) & {"ENG103", "WGT101"}
    said = " ".join(finding.message for finding in verdict.findings)
    assert "the layout of LlamaForCausalLMEagle3" in said
    assert "architectures LlamaForCausalLMEagle3" in verdict.headline
    assert mended(drafter, engine, verdict).decision != "block"
    assert emitted(drafter, engine)["architectures"] == ["LlamaForCausalLMEagle3"]


def test_b14_a_plain_layer_is_not_taken_for_an_eagle_layer():
    body = config([2, 19, 36], hidden=5120, vocab_size=151936, architectures=["Qwen3ForCausalLM"])
    plain = {"midlayer.self_attn.q_proj.weight": (5120, 5120)}
    drafter = subject(head(body, hidden=5120, vocab=151936, adding=plain), provenance((3, 20, 37)), QWEN3_14B)
    verdict = judged(drafter, "sglang==0.5.23")
    assert outcome_of(verdict) == ("block", "engine")
    assert "takes 2 x 5120" in the(verdict, "ENG103").message


def tiny_tensors(*, hidden=8, rows=16, vocab=32, layer="midlayer.", absolute=False):
    """Return the bytes of a small head: every name of a real one, every number zero."""
    shapes = {f"{layer}{name}": tuple(hidden * factor for factor in shape) for name, shape in LAYER.items()}
    shapes |= {"fc.weight": (hidden, 3 * hidden), "norm.weight": (hidden,), "lm_head.weight": (rows, hidden)}
    made = {name: ("BF16", list(shape), bytes(2 * _product(shape))) for name, shape in shapes.items()}
    kept = [2 * number for number in range(rows)]
    values = kept if absolute else [token - number for number, token in enumerate(kept)]
    made["d2t"] = ("I64", [rows], struct.pack(f"<{rows}q", *values))
    made["t2d"] = ("BOOL", [vocab], bytes(number % 2 == 0 for number in range(vocab)))
    return made


def _product(shape):
    return shape[0] * (shape[1] if len(shape) > 1 else 1)


def tiny_config(ids=None, **more):
    return config(ids, hidden=8, rows=16, vocab_size=32, **more)


def from_files(directory, *, record=None, layers=40):
    """Inspect a directory and return what registration judges of it: a subject, or the findings that refuse it."""
    served = target("LlamaForCausalLM", layers=layers, hidden=8, vocab=32)
    record = record or provenance((3, 20, 37))
    found = inspect(directory)
    if found.inventory is None:
        empty = Subject(ref="made@1", inventory=Inventory(files=()), provenance=record, trained_target=served)
        return judge_registration(empty, profiles=PROFILES, faults=found.faults)
    return subject(found.inventory, record, served, weights_digest=found.inventory.weights_digest)


@pytest.mark.parametrize("engine", [*SGLANG, *VLLM])
def test_b15_a_head_that_declares_its_targets_class_and_layers_is_emitted_beside_the_same_weights(engine, tmp_path):
    write_safetensors(tmp_path / "model.safetensors", tiny_tensors())
    (tmp_path / "config.json").write_text(
        json.dumps(tiny_config(architectures=["LlamaForCausalLM"], num_hidden_layers=40))
    )
    drafter = from_files(tmp_path, record=provenance((2, 20, 37)))
    found = registered(drafter)
    assert found["WGT106"].severity is Severity.WARNING
    assert "num_hidden_layers is 40, but 1 layer is stored" in found["WGT106"].message
    verdict = judged(drafter, engine)
    assert outcome_of(verdict) == ("block", "config")
    assert "WGT106" in errors(verdict)
    assert mended(drafter, engine, verdict).decision == "pass"
    written = emitted(drafter, engine)
    assert written["num_hidden_layers"] == 1
    assert written["architectures"][0] in ("LlamaForCausalLMEagle3", "LlamaForCausalLM")
    assert engine.startswith("vllm") or written["architectures"] == ["LlamaForCausalLMEagle3"]


NARROW = {"hidden": 6144, "target_hidden": 8192}


def narrow_head(*, embedding=True, target_hidden_size=8192, **changes):
    adding = {"embed_tokens.weight": (128256, 6144)} if embedding else {}
    body = config([2, 39, 76], hidden=6144, target_hidden_size=target_hidden_size)
    return subject(head(body, adding=adding, **{**NARROW, **changes}), provenance((3, 40, 77)), LLAMA_70B)


@pytest.mark.parametrize("engine", [*SGLANG, *VLLM])
def test_b19_a_head_narrower_than_its_target_is_fine_with_its_own_embedding(engine):
    drafter = narrow_head()
    assert registered(drafter) == {}
    written = emitted(drafter, engine)
    assert written["target_hidden_size"] == 8192


@pytest.mark.parametrize("engine", [SGLANG[-1], VLLM[0], VLLM[-1]])
def test_b19_without_its_own_embedding_it_cannot_serve(engine):
    verdict = judged(narrow_head(embedding=False), engine)
    assert outcome_of(verdict) == ("block", "convert")
    assert "embed_tokens.weight" in the(verdict, "WGT101").message
    assert "its own" in the(verdict, "WGT101").message


def test_b19_fc_counts_the_targets_hidden_size_not_the_drafters():
    found = registered(narrow_head(target_hidden=6144))
    assert found["TAP106"].severity is Severity.ERROR
    assert "8192" in found["TAP106"].message


def bare_list():
    """Return the key list of the report: no fc, no head, no map."""
    shapes = {f"layers.0.{name}": tuple(4096 * factor for factor in shape) for name, shape in LAYER.items()}
    shapes |= {"embed_tokens.weight": (32000, 4096), "norm.weight": (4096,)}
    tensors = tuple(Tensor(name=name, dtype="BF16", shape=shape) for name, shape in sorted(shapes.items()))
    return Inventory(files=(), tensors=tensors, config=config([2, 19, 36], hidden=4096, vocab_size=32000, rows=None))


@pytest.mark.parametrize("engine", [SGLANG[0], SGLANG[-1], VLLM[-1]])
def test_b22_without_fc_the_taps_cannot_be_fused(engine):
    drafter = subject(bare_list(), provenance((3, 20, 37)), MISTRAL)
    verdict = judged(drafter, engine)
    assert outcome_of(verdict) == ("block", "convert")
    assert "without fc.weight the taps cannot be fused" in the(verdict, "WGT101").message
    assert "look for the other shard" in the(verdict, "WGT101").message
    assert isinstance(emitted(drafter, engine), EmissionRefused)


@pytest.mark.parametrize("layer", ["midlayer.", "layers.0."])
@pytest.mark.parametrize("engine", ["sglang==0.5.12", "sglang==0.5.23", "vllm==0.33.0"])
def test_b22_both_layer_names_are_known_layouts(engine, layer):
    drafter = llama_head([2, 39, 76], layer=layer)
    assert emitted(drafter, engine)["architectures"] == ["LlamaForCausalLMEagle3"]


def test_b22_a_build_that_knows_one_layer_name_only_says_so():
    verdict = judged(llama_head([2, 39, 76], layer="layers.0."), "sglang==0.5.11")
    assert outcome_of(verdict) == ("block", "convert")
    assert "drops them without a word" in the(verdict, "WGT105").message


def test_b22_a_missing_head_with_the_full_vocabulary_is_the_targets_by_config():
    drafter = llama_head([2, 39, 76], rows=128256, without=("lm_head.weight",))
    verdict = judged(drafter, "sglang==0.5.23")
    assert outcome_of(verdict) == ("block", "config")
    assert "draft_vocab_size null" in the(verdict, "WGT101").message
    assert mended(drafter, "sglang==0.5.23", verdict).decision == "pass"
    assert emitted(drafter, "sglang==0.5.23")["draft_vocab_size"] is None
    assert "draft_vocab_size" in emitted(drafter, "vllm==0.33.0")


@pytest.mark.parametrize("engine", [SGLANG[-1], *VLLM])
def test_b22_a_missing_head_of_a_reduced_vocabulary_is_nobodys(engine):
    drafter = llama_head([3, 40, 77], key=TOP, without=("lm_head.weight",))
    verdict = judged(drafter, engine)
    assert outcome_of(verdict) == ("block", "convert")
    assert "the target's head does not fit" in the(verdict, "WGT101").message
    assert isinstance(emitted(drafter, engine), EmissionRefused)


def test_b23_a_bias_of_fc_is_loaded_only_where_the_config_says_so():
    bias = {"fc.bias": (8192,)}
    silent, said = llama_head([2, 39, 76], adding=bias), llama_head([2, 39, 76], adding=bias, bias=True)
    verdict = judged(silent, "sglang==0.5.23")
    assert outcome_of(verdict) == ("block", "config")
    assert "drops fc.bias without a word" in the(verdict, "WGT102").message
    assert mended(silent, "sglang==0.5.23", verdict).decision == "pass"
    assert outcome_of(judged(said, "sglang==0.5.23")) == ("pass", "none")


def test_b23_a_loader_that_refuses_a_bias_is_in_the_way():
    verdict = judged(llama_head([3, 40, 77], key=TOP, adding={"fc.bias": (8192,)}, bias=True), "vllm==0.33.0")
    assert (*outcome_of(verdict), verdict.outcome) == ("block", "engine", Outcome.REFUSES)


# --- vocabulary -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [*SGLANG, *VLLM])
def test_b25_a_reduced_vocabulary_without_its_map_is_repaired_not_retrained(engine):
    drafter = llama_head([2, 39, 76], without=("d2t", "t2d"))
    verdict = judged(drafter, engine)
    assert outcome_of(verdict) == ("block", "convert")
    assert "store the map of training as d2t" in the(verdict, "VOC101").message
    assert verdict.retrain_cost is None
    assert isinstance(emitted(drafter, engine), EmissionRefused)


def test_b25_no_map_is_expected_of_the_full_vocabulary():
    drafter = llama_head([2, 39, 76], rows=128256)
    assert outcome_of(judged(drafter, "sglang==0.5.23")) == ("pass", "none")


def test_b25_an_absolute_table_is_told_from_offsets(tmp_path):
    write_safetensors(tmp_path / "model.safetensors", tiny_tensors(absolute=True))
    (tmp_path / "config.json").write_text(json.dumps(tiny_config([2, 19, 36])))
    verdict = judged(from_files(tmp_path), "sglang==0.5.23")
    assert outcome_of(verdict) == ("block", "convert")
    assert "VOC104" in errors(verdict)


def test_b27_a_map_of_zeros_is_right_for_the_full_vocabulary_only():
    zeros = vocab_map(all_zero=True, offset_max=31999, absolute_max=0)
    prefix = judged(llama_head([2, 39, 76], mapping=zeros), "sglang==0.5.23")
    assert (prefix.decision, the(prefix, "VOC105").remedies) == ("warn", (Remedy.RETRAIN,))
    assert prefix.retrain_cost["reused"]["samples"] == 100_000
    full = head(
        config([1, 19, 36], hidden=5120, vocab_size=32000),
        hidden=5120, vocab=32000, adding={"d2t": (32000,), "t2d": (32000,)},
        mapping=vocab_map(vocab=32000, all_zero=True, absolute_max=0),
    )  # fmt: skip
    assert outcome_of(judged(subject(full, provenance((2, 20, 37)), VICUNA), "sglang==0.5.23")) == ("pass", "none")


def test_b28_a_map_of_another_length_is_repaired_or_retrained():
    drafter = llama_head([2, 39, 76], adding={"d2t": (6054,)}, mapping=vocab_map(rows=6054))
    verdict = judged(drafter, "sglang==0.5.23")
    assert the(verdict, "VOC107").remedies == (Remedy.CONVERT, Remedy.RETRAIN)
    assert outcome_of(verdict) == ("block", "convert")


def test_b28_a_config_that_names_another_size_than_head_and_map_is_corrected():
    body = config([2, 39, 76], hidden=8192, rows=32000)
    drafter = subject(head(body, hidden=8192, rows=6054), provenance((3, 40, 77)), LLAMA_70B)
    verdict = judged(drafter, "sglang==0.5.23")
    assert outcome_of(verdict) == ("block", "config")
    assert mended(drafter, "sglang==0.5.23", verdict).decision == "pass"
    assert emitted(drafter, "vllm==0.33.0")["draft_vocab_size"] == 6054


def test_b29_a_tied_head_does_not_go_with_a_reduced_vocabulary():
    drafter = llama_head([2, 39, 76], tie_word_embeddings=True)
    verdict = judged(drafter, "sglang==0.5.11")
    assert outcome_of(verdict) == ("block", "config")
    assert the(verdict, "WGT104").at == "/draft_config/tie_word_embeddings"
    assert mended(drafter, "sglang==0.5.11", verdict).decision == "pass"
    assert emitted(drafter, "sglang==0.5.11")["tie_word_embeddings"] is False


def test_b30_padding_warns_and_another_tokenizer_warns_of_another_target():
    padded = judged(llama_head([2, 39, 76], vocab_size=128000), "sglang==0.5.23")
    assert (padded.decision, the(padded, "VOC106").remedies) == ("warn", (Remedy.CONFIG, Remedy.CONVERT))
    record = provenance((3, 40, 77), tokenizer_digest=Digest("sha256:" + "6" * 64))
    drafter = llama_head([2, 39, 76], record=record)
    other = replace(LLAMA_70B, tokenizer_digest=OTHER_DIGEST)
    verdict = judge(drafter, proposal("sglang==0.5.23"), profiles=PROFILES, target=other)
    assert the(verdict, "TGT104").remedies == (Remedy.OTHER_TARGET, Remedy.RETRAIN)


# --- target and engine ------------------------------------------------------------------------------------------------


def test_b31_a_fine_tuned_target_runs_and_the_record_does_not_cover_it():
    tuned = replace(LLAMA_70B, name="made/fine-tune", digest=OTHER_DIGEST)
    verdict = judge(llama_head([2, 39, 76]), proposal("sglang==0.5.23"), profiles=PROFILES, target=tuned)
    assert outcome_of(verdict) == ("warn", "none")
    assert "the record does not cover how well; training again is recommended" in the(verdict, "TGT101").message
    assert verdict.retrain_cost is not None


def test_b42_support_comes_with_an_engine_build_per_target_class():
    dense = subject(
        head(config([3, 20, 37], key=TOP, hidden=5120, vocab_size=151936), hidden=5120, vocab=151936),
        provenance((3, 20, 37)), QWEN3_14B,
    )  # fmt: skip
    assert outcome_of(judged(dense, "vllm==0.11.2")) == ("pass", "none")
    deepseek = target("DeepseekV3ForCausalLM", layers=61, hidden=7168, vocab=129280, dense=False)
    body = config([3, 31, 59], key=TOP, hidden=7168, vocab_size=129280)
    drafter = subject(head(body, hidden=7168, vocab=129280), provenance((3, 31, 59)), deepseek)
    old = judged(drafter, "vllm==0.11.2")
    assert outcome_of(old) == ("block", "engine")
    assert "first release that serves it 0.18.0" in the(old, "ENG102").message
    assert outcome_of(judged(drafter, "vllm==0.18.0")) == ("pass", "none")


def test_b43_a_class_whose_setter_reaches_nothing_is_an_engine_matter():
    served = target("Qwen3_5MoeForConditionalGeneration", layers=48, hidden=2048, vocab=151936, dense=False)
    body = config([2, 23, 44], hidden=2048, vocab_size=151936)
    drafter = subject(head(body, hidden=2048, vocab=151936), provenance((3, 24, 45)), served)
    broken = judged(drafter, "sglang==0.5.14")
    assert outcome_of(broken) == ("block", "engine")
    assert errors(broken) == {"ENG102", "TAP101"}
    assert "0.5.23" in the(broken, "ENG102").message
    assert outcome_of(judged(drafter, "sglang==0.5.23")) == ("pass", "none")


def test_b43_a_class_that_a_build_does_not_list_names_the_first_release_that_serves_it():
    served = target("Qwen3VLMoeForConditionalGeneration", layers=48, hidden=2048, vocab=151936, dense=False)
    body = config([2, 23, 44], hidden=2048, vocab_size=151936)
    drafter = subject(head(body, hidden=2048, vocab=151936), provenance((3, 24, 45)), served)
    verdict = judged(drafter, "sglang==0.5.9")
    assert outcome_of(verdict) == ("block", "unknown")
    assert "first release that serves it 0.5.11" in the(verdict, "ENG102").message


@pytest.mark.parametrize("line", [
    "--speculative-algorithm EAGLE",
    "python -m sglang.launch_server --tp 8 --speculative-algorithm=EAGLE --port 1",
])  # fmt: skip
def test_b47_the_algorithm_that_hands_over_one_state_is_a_launch_error(line):
    verdict = judged(llama_head([2, 39, 76]), "sglang==0.5.23", launch=line)
    assert outcome_of(verdict) == ("block", "config")
    assert effective(verdict) == ((), ())
    assert "EAGLE3 does" in the(verdict, "TAP101").message
    right = judged(llama_head([2, 39, 76]), "sglang==0.5.23", launch=line.replace("EAGLE", "EAGLE3"))
    assert outcome_of(right) == ("pass", "none")


# --- files ------------------------------------------------------------------------------------------------------------


def refusal(directory, code):
    findings = from_files(directory)
    found = [finding for finding in findings if finding.code == code]
    assert found, findings
    assert all(finding.severity is Severity.ERROR for finding in found)
    assert all(finding.remedies == (Remedy.REJECT,) for finding in found)
    return found[0].message


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(tiny_config([2, 19, 36])))
    return tmp_path


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 130\n"


@pytest.mark.parametrize(("data", "code", "says"), [
    (POINTER, "ART101", "git lfs pull"),
    (safetensors_bytes(tiny_tensors())[:-100], "ART102", "bytes"),
    (struct.pack("<Q", 2**64 - 1) + b"{}", "ART103", "18446744073709551615"),
])  # fmt: skip
def test_b56_each_broken_file_is_rejected_with_its_own_reason(directory, data, code, says):
    (directory / "model.safetensors").write_bytes(data)
    assert says in refusal(directory, code)


def test_b57_offsets_that_do_not_hold_the_tensor_are_rejected_by_their_bytes(directory):
    header = {"t": {"dtype": "F32", "shape": [1000, 1000], "data_offsets": [0, 4]}}
    (directory / "model.safetensors").write_bytes(prefixed(json.dumps(header).encode()) + bytes(4))
    message = refusal(directory, "ART107")
    assert "4000000" in message.replace(",", "").replace("_", "")


def test_b57_a_repeated_key_is_rejected_by_name(directory):
    entry = '{"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}'
    (directory / "model.safetensors").write_bytes(prefixed(f'{{"t": {entry}, "t": {entry}}}'.encode()) + bytes(4))
    assert "t" in refusal(directory, "ART106")


def test_b59_a_shard_that_was_not_uploaded_makes_the_version_incomplete(directory):
    names = sorted(tiny_tensors())
    shards = {
        "model-00001-of-00002.safetensors": {name: tiny_tensors()[name] for name in names[:6]},
        "more/model-00002-of-00002.safetensors": {name: tiny_tensors()[name] for name in names[6:]},
    }
    write_sharded(directory, shards)
    whole = from_files(directory)
    assert emitted(whole, "sglang==0.5.23")["architectures"] == ["LlamaForCausalLMEagle3"]
    (directory / "more" / "model-00002-of-00002.safetensors").unlink()
    message = refusal(directory, "ART108")
    assert "more/model-00002-of-00002.safetensors" in message
    assert "incomplete" in message


def test_b65_a_source_that_holds_nothing_is_refused_at_registration(tmp_path):
    codes = {finding.code for finding in from_files(tmp_path)}
    assert {"ART113", "ART114"} <= codes
    with pytest.raises(OSError, match="nowhere"):
        inspect(tmp_path / "nowhere")
