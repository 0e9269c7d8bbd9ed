"""Public reports as cases, named after their rows in the collection that they were taken from.

Each is built by hand at the level of the rules; what a shipped build really reads is tested with the engines.
"""

from dataclasses import replace

import pytest

from registry.domain.artifact_faults import ArtifactFault, FaultKind
from registry.domain.case import Twin
from registry.domain.findings import Remedy, Severity
from registry.domain.profile import Graphs, IdKey, Patch, Runner
from registry.domain.proposal import Build
from registry.domain.reading import Outcome
from registry.domain.taps import at_depths
from registry.domain.verdict import decide, overall_remedy
from registry.rules import catalogue
from registry.rules.specimen import (
    DRAFT,
    FACTS,
    HIDDEN,
    LAYERS,
    METHODS,
    NESTED,
    OTHER_DIGEST,
    PROFILE,
    SPECIMEN,
    TOP_LEVEL,
    VOCAB,
    capture,
    config,
    drafted,
    facts,
    failure,
    ids,
    inventory,
    loaded,
    phases,
    profile,
    reading,
    specimen,
    target,
    tensors,
    trained,
    vocab_map,
)  # fmt: skip

VLLM = specimen(
    proposal=replace(SPECIMEN.proposal, build=Build(engine="vllm", version="0.33.0")),
    profile=replace(
        PROFILE,
        engine="vllm",
        version="0.33.0",
        runners=(
            Runner(name="v1", keys=(IdKey(pointer=TOP_LEVEL), IdKey(pointer=NESTED)), default_for="none"),
            Runner(name="v2", keys=(IdKey(pointer=TOP_LEVEL),)),
        ),
        graphs=Graphs(ids_hold=True),
    ),
    target_facts=replace(FACTS, dialect="identity"),
    lineage=replace(SPECIMEN.lineage, entries=()),
    reading=reading(runner="v2", found=(ids(3, 31, 59, pointer=TOP_LEVEL),)),
)
"""The specimen on a build with two runners that read ids as depths."""


def judged(case, stage="check"):
    return catalogue().judge(case, stage)


def the(findings, code):
    found = [finding for finding in findings if finding.code == code]
    assert len(found) == 1, [finding.code for finding in findings]
    return found[0]


def codes(findings, severity=Severity.ERROR):
    return {finding.code for finding in findings if finding.severity is severity}


def registering(**changes):
    return specimen(proposal=None, profile=None, target_facts=None, reading=None, **changes)


# B01: no ids in the config of a head for an 80-layer target; the engine would guess 2, 40, 77.


def undeclared(**changes):
    layers = target(layers=80)
    read = reading(found=(), requested=(), taps=phases((2, 40, 77)))
    return replace(VLLM, target=layers, trained_target=layers, reading=replace(read, runner="v2"), **changes)


def test_b01_undeclared_taps_are_an_error_that_a_config_mends():
    findings = judged(undeclared(trained=trained(3, 41, 78)))
    finding = the(findings, "TAP104")
    assert finding.severity is Severity.ERROR
    assert "captures its default 2, 40, 77" in finding.message
    assert "training had 3, 41, 78" in finding.message
    assert overall_remedy(findings) is Remedy.CONFIG


def test_b01_undeclared_taps_without_provenance_are_unknown():
    why = replace(trained(), taps=None, why_unknown="the counting 'mine' is not known here")
    findings = judged(undeclared(trained=why))
    assert the(findings, "TAP104").unknown == "trained taps"
    assert the(findings, "TAP101").unknown == "trained taps"
    assert overall_remedy(findings) is Remedy.UNKNOWN
    assert decide(findings) == "block"


def test_b01_undeclared_taps_whose_default_is_right_warn():
    findings = judged(undeclared(trained=trained(2, 40, 77)))
    assert decide(findings) == "warn"
    assert codes(findings, Severity.WARNING) == {"TAP104"}


# B03: lists that begin with 1 are outputs of layers, lists that begin with 2 are inputs; older builds added one to all.


def test_b03_a_changed_counting_names_the_release_and_the_ids():
    case = specimen(
        proposal=replace(SPECIMEN.proposal, build=Build(engine="sglang", version="0.5.23")),
        profile=profile(version="0.5.23"),
        target_facts=facts(dialect="first_is_one"),
        reading=reading(taps=phases((2, 30, 58)), requested=(2, 30, 58)),
    )
    findings = judged(case)
    finding = the(findings, "TAP101")
    assert "prefill and decode read 2, 30, 58 where training had 3, 31, 59" in finding.message
    assert "from 0.5.13 ids of this class are read as depths unless the first is 1; use [3,31,59]" in finding.message
    assert "no retraining is needed" in finding.message
    assert finding.at == f"/draft_config{NESTED}"
    assert (decide(findings), overall_remedy(findings)) == ("block", Remedy.CONFIG)


def test_b03_a_list_without_a_known_counting_is_unknown():
    why = replace(trained(), taps=None, why_unknown="the counting 'unsaid' is not known here")
    findings = judged(specimen(trained=why))
    assert the(findings, "TAP101").remedies == (Remedy.UNKNOWN,)


# B04: trained against one engine's counting, the same ids passed to another unshifted.


def test_b04_ids_of_the_other_counting_are_named_as_such():
    read = reading(runner="v2", found=(ids(2, 30, 58, pointer=TOP_LEVEL),), taps=phases((2, 30, 58)))
    findings = judged(replace(VLLM, reading=read))
    finding = the(findings, "TAP101")
    assert "vLLM counts depths; SGLang before 0.5.13 counted layers" in finding.message
    assert "use [3,31,59]" in finding.message
    assert overall_remedy(findings) is Remedy.CONFIG


def test_b04_an_ignored_key_is_an_error_and_names_the_runner_that_reads_it():
    found = (ids(3, 31, 59, used=False),)
    read = reading(runner="v2", found=found, requested=(), taps=phases((2, 30, 58)), outcome=Outcome.DEFAULTS)
    finding = the(judged(replace(VLLM, reading=read)), "TAP105")
    assert "nested ids are ignored by this runner (v2)" in finding.message
    assert "with V1 they are read as depths" in finding.message
    assert finding.remedies == (Remedy.CONFIG,)


# B12: six states asked for, five stored; the loader strips the last one whatever it is.


def test_b12_a_record_of_six_states_and_an_fc_of_five_is_refused():
    record = capture(2, 17, 32, 47, 62, 78, verifier_state=None)
    case = registering(
        provenance=record,
        trained=trained(2, 17, 32, 47, 62, 78, verifier=None),
        inventory=inventory(adding={"fc.weight": (HIDDEN, 5 * HIDDEN)}),
    )
    findings = judged(case, "registration")
    finding = the(findings, "TAP107")
    assert finding.severity is Severity.ERROR
    assert "v1 keeps the last dumped state for the verifier" in finding.message
    assert "either name it as verifier_state or fc must have six taps" in finding.message
    assert "TAP106" not in codes(findings)


def test_b12_the_founding_record_without_verifier_state_is_refused_with_both_explanations():
    case = registering(
        provenance=capture(3, 31, 59, 61, verifier_state=None), trained=trained(3, 31, 59, 61, verifier=None)
    )
    finding = the(judged(case, "registration"), "TAP107")
    assert finding.severity is Severity.ERROR
    assert "either name it as verifier_state or fc must have four taps" in finding.message


def test_b12_as_many_states_as_fc_takes_are_accepted_with_the_verifier_unknown():
    case = registering(provenance=capture(3, 31, 59, verifier_state=None), trained=trained(3, 31, 59, verifier=None))
    findings = judged(case, "registration")
    assert decide(findings) == "pass"
    assert the(findings, "TAP107").unknown == "verifier's last state"


def test_b12_a_recipe_that_keeps_the_state_apart_is_held_against_fc_too():
    record = capture(3, 31, 59, 61, recipe="standardize_data_v0", verifier_state="separate")
    findings = judged(registering(provenance=record, trained=trained(3, 31, 59, 61)), "registration")
    assert codes(findings) == {"TAP106"}


def test_b12_a_separate_verifier_state_contradicts_a_recipe_that_takes_the_last_one():
    findings = judged(registering(provenance=capture(3, 31, 59, verifier_state="separate")), "registration")
    assert codes(findings) == {"TAP107"}


def test_b12_an_unknown_recipe_registers_with_a_warning_and_blocks_every_check():
    record = capture(3, 31, 59, recipe="mine")
    why = replace(trained(3, 31, 59), taps=None, why_unknown="the standardization 'mine' is not known here")
    assert decide(judged(registering(provenance=record, trained=why), "registration")) == "warn"
    findings = judged(specimen(provenance=record, trained=why))
    assert codes(findings) == {"TAP101"}
    assert overall_remedy(findings) is Remedy.UNKNOWN


def test_b12_the_last_depth_needs_a_build_that_captures_it():
    read = reading(taps=phases((3, 31)), requested=(3, 31, 61), lost=(61,), expressible=False)
    findings = judged(specimen(trained=trained(3, 31, 61), reading=read))
    assert {"TAP101", "TAP103", "TAP108"} <= codes(findings)
    assert overall_remedy(findings) is Remedy.ENGINE


# B14: the config names a plain model, the tensors are an EAGLE-3 layer.


def misnamed(**changes):
    read = replace(
        drafted(architecture="Qwen3ForCausalLM", supported=False),
        failures=failure("draft_class", "no draft class of this build loads Qwen3ForCausalLM"),
    )
    return specimen(config=config(architectures=["Qwen3ForCausalLM"]), reading=read, **changes)


def test_b14_a_misnamed_class_is_config_only_when_the_layer_takes_twice_the_hidden_size():
    findings = judged(misnamed())
    finding = the(findings, "ENG103")
    assert "layout of LlamaForCausalLMEagle3 (q_proj takes 128 = 2 x 64 columns)" in finding.message
    assert finding.at == "/draft_config/architectures"
    assert (decide(findings), overall_remedy(findings)) == ("block", Remedy.CONFIG)


def test_b14_a_layer_that_takes_the_plain_hidden_size_is_no_eagle3_layer():
    findings = judged(misnamed(inventory=inventory(adding={"midlayer.self_attn.q_proj.weight": (HIDDEN, HIDDEN)})))
    assert overall_remedy(findings) is Remedy.ENGINE
    assert "q_proj takes 64 columns, and an EAGLE-3 layer takes 2 x 64" in the(findings, "ENG103").message


# B15: 40 layers declared, one stored.


def test_b15_declared_layers_are_reported_and_mended_by_config():
    findings = judged(specimen(config=config(num_hidden_layers=40)))
    finding = the(findings, "WGT106")
    assert finding.message == "num_hidden_layers is 40, but 1 layer is stored: set it to 1"
    assert (decide(findings), overall_remedy(findings)) == ("block", Remedy.CONFIG)


def test_b15_class_and_layer_count_together_are_still_config_only():
    findings = judged(replace(misnamed(), config=config(architectures=["LlamaForCausalLM"], num_hidden_layers=40)))
    assert codes(findings) == {"ENG103", "WGT106"}
    assert overall_remedy(findings) is Remedy.CONFIG


# B22: embed_tokens, layers.0.*, norm; no fc, no lm_head, no d2t.


def test_b22_a_list_without_fc_asks_for_the_other_shard():
    stored = inventory(without=("fc.weight", "lm_head.weight", "d2t", "t2d"), renaming=("midlayer.", "layers.0."))
    case = specimen(
        inventory=replace(stored, vocab_map=None), reading=loaded(untouched=("fc.weight", "lm_head.weight"))
    )
    findings = judged(case)
    missing = [finding for finding in findings if finding.code == "WGT101"]
    assert any("without fc.weight the taps cannot be fused" in finding.message for finding in missing)
    assert any("look for the other shard" in finding.message for finding in missing)
    assert overall_remedy(findings) is Remedy.CONVERT


@pytest.mark.parametrize(
    ("shared", "remedies"),
    [("null_draft_vocab", (Remedy.CONFIG, Remedy.CONVERT)), ("never", (Remedy.CONVERT,))],
)
def test_b22_a_missing_head_with_the_full_vocabulary_can_be_the_targets(shared, remedies):
    build = profile(drafts=(replace(PROFILE.drafts[0], head_shared=shared),))
    case = specimen(
        profile=build,
        inventory=inventory(without=("lm_head.weight", "d2t", "t2d"), vocab_map=None),
        config=config(draft_vocab_size=VOCAB),
        reading=loaded(untouched=("lm_head.weight",)),
    )
    finding = the(judged(case), "WGT101")
    assert finding.remedies == remedies


def test_b22_both_layer_namings_are_known_layouts():
    understood = specimen(inventory=inventory(renaming=("midlayer.", "layers.0.")))
    assert judged(understood) == ()
    findings = judged(
        replace(
            understood,
            reading=drafted(
                naming_understood=False,
                load=replace(
                    DRAFT.load,
                    untouched=("layers.0.self_attn.q_proj.weight",),
                    dropped=("layers.0.self_attn.q_proj.weight",),
                ),
            ),
        )
    )
    assert codes(findings) == {"WGT105"}
    assert "drops them without a word" in findings[0].message
    assert overall_remedy(findings) is Remedy.CONVERT


# B25: reduced vocabulary, mapping only in a side file.


def test_b25_a_reduced_vocabulary_without_d2t_is_mended_in_the_artifact():
    findings = judged(specimen(inventory=inventory(without=("d2t", "t2d"), vocab_map=None)))
    finding = the(findings, "VOC101")
    assert "draft id k is then taken as target id k" in finding.message
    assert (decide(findings), overall_remedy(findings)) == ("block", Remedy.CONVERT)


def test_b25_the_full_vocabulary_needs_no_map():
    full = inventory(without=("d2t", "t2d"), adding={"lm_head.weight": (VOCAB, HIDDEN)}, vocab_map=None)
    assert judged(specimen(inventory=full, config=config(draft_vocab_size=VOCAB))) == ()


# B27, B28: maps that are there and wrong.


def test_b27_an_identity_prefix_warns_and_only_training_mends_it():
    findings = judged(specimen(inventory=vocab_map(all_zero=True)))
    assert decide(findings) == "warn"
    assert the(findings, "VOC105").remedies == (Remedy.RETRAIN,)


def test_b28_a_map_of_another_length_is_an_error():
    stored = inventory(adding={"d2t": (54,)}, vocab_map=replace(SPECIMEN.inventory.vocab_map, rows=54))
    finding = the(judged(specimen(inventory=stored)), "VOC107")
    assert "d2t has 54 entries; draft_vocab_size is 96 and lm_head has 96 rows" in finding.message


# B31: a fine-tune of the target, same shapes.


def test_b31_other_weights_of_the_same_shape_are_neither_fine_nor_an_error():
    findings = judged(specimen(target=target(name="kimi-tuned", digest=OTHER_DIGEST)))
    assert decide(findings) == "warn"
    assert the(findings, "TGT101").remedies == (Remedy.OTHER_TARGET, Remedy.RETRAIN)


@pytest.mark.parametrize("digest", [None, "blake3:" + "1" * 64])
def test_b31_a_digest_that_cannot_be_compared_warns_and_never_blocks(digest):
    findings = judged(specimen(target=target(digest=digest)))
    assert decide(findings) == "warn"
    assert the(findings, "TGT101").unknown == "target digest"


# B56, B57, B59, B60, B65: files that are not what they claim.


def faulty(kind, *, observed, expected, file="model.safetensors", where=""):
    fault = ArtifactFault(kind=kind, file=file, where=where, observed=observed, expected=expected)
    return judged(registering(faults=(fault,)), "registration")


@pytest.mark.parametrize(
    ("row", "kind", "code", "observed", "expected", "says"),
    [
        ("B56", FaultKind.LFS_POINTER, "ART101", "a Git LFS pointer", "safetensors", "git lfs pull"),
        ("B56", FaultKind.TRUNCATED, "ART102", "900 bytes", "4096 bytes", "900 bytes, expected 4096 bytes"),
        ("B56", FaultKind.HEADER_LENGTH, "ART103", "18446744073709551615", "at most 100", "18446744073709551615"),
        ("B57", FaultKind.SIZE_MISMATCH, "ART107", "4 bytes", "4000000 bytes", "4 bytes, expected 4000000 bytes"),
        ("B57", FaultKind.DUPLICATE_KEY, "ART106", "'t' twice", "each key once", "'t' twice"),
        ("B57", FaultKind.OVERLAP_OR_HOLE, "ART105", "an overlap", "none", "an overlap"),
        ("B59", FaultKind.MISSING_SHARD, "ART108", "no 'b.safetensors'", "every shard", "no 'b.safetensors'"),
        ("B59", FaultKind.PATH_ESCAPE, "ART110", "'../x'", "a name inside", "'../x'"),
        ("B60", FaultKind.PICKLE, "ART112", "a pickle", "safetensors", "convert it to safetensors in isolation"),
        ("B65", FaultKind.WEIGHTS_MISSING, "ART114", "no safetensors file", "at least one", "no safetensors file"),
        ("B65", FaultKind.UNREADABLE, "ART116", "permission denied", "a readable file", "permission denied"),
    ],
)
def test_a_faulty_file_is_rejected_with_its_own_reason(row, kind, code, observed, expected, says):
    findings = faulty(kind, observed=observed, expected=expected)
    assert codes(findings) == {code}
    assert says in findings[0].message
    assert overall_remedy(findings) is Remedy.REJECT


def test_b57_the_tensor_and_the_place_are_named():
    finding = faulty(
        FaultKind.SIZE_MISMATCH, observed="4 bytes", expected="4000000 bytes", file="a/b~c.safetensors", where="t"
    )[0]
    assert finding.message.startswith("a/b~c.safetensors (t): 4 bytes")
    assert finding.at == "/files/a~1b~0c.safetensors"


@pytest.mark.parametrize("kind", FaultKind)
def test_every_kind_of_fault_is_refused_by_exactly_one_rule(kind):
    findings = faulty(kind, observed="this", expected="that")
    assert len(findings) == 1
    assert findings[0].code.startswith("ART")
    assert decide(findings) == "block"


@pytest.mark.parametrize(
    ("reference", "python_files", "decision"),
    [
        ("someone/theirs--modeling.Draft", (), "block"),
        ("modeling.Draft", ("modeling.py",), "block"),
        ("modeling.Draft", (), "warn"),
    ],
)
def test_auto_map_is_refused_unless_it_leads_nowhere(reference, python_files, decision):
    case = registering(config=config(auto_map={"AutoModel": reference}), inventory=inventory(python_files=python_files))
    assert decide(judged(case, "registration")) == decision


@pytest.mark.parametrize(
    "nested",
    [
        {"text_config": {"auto_map": {"AutoModel": "someone/theirs--modeling.Draft"}}},
        {"experts": [{"auto_map": {"AutoModel": ["modeling.Draft", "someone/theirs--modeling.Draft"]}}]},
    ],
)
def test_auto_map_is_found_at_any_depth(nested):
    findings = judged(registering(config=config(**nested)), "registration")
    assert decide(findings) == "block"
    assert overall_remedy(findings) is Remedy.REJECT


# The founding case, and what no public report shows.


def test_the_embedding_is_named_and_no_retraining_is_asked_for():
    read = reading(taps=phases((0, 3, 31)), requested=(0, 3, 31), found=(ids(-1, 2, 30),))
    findings = judged(specimen(reading=read))
    assert codes(findings) == {"TAP101", "TAP102"}
    message = the(findings, "TAP102").message
    assert message == "depth 0 is the embedding output and was never captured in training"
    assert overall_remedy(findings) is Remedy.CONFIG


def test_an_embedding_that_was_captured_in_training_is_no_stranger():
    read = reading(taps=phases((0, 3, 31)), requested=(0, 3, 31))
    findings = judged(specimen(trained=trained(0, 3, 31), provenance=capture(0, 3, 31), reading=read))
    assert findings == ()


def test_a_class_without_the_three_methods_is_refused_with_the_first_releases_that_serve():
    case = specimen(
        proposal=replace(SPECIMEN.proposal, build=Build(engine="sglang", version="0.5.9")),
        target_facts=facts(missing_methods=METHODS, needed_methods=METHODS[:2]),
        reading=reading(taps=None, failures=failure("no_setter", "lacks methods"), outcome=Outcome.REFUSES),
    )
    findings = judged(case)
    message = the(findings, "ENG102").message
    assert "the wrapper class KimiK25ForConditionalGeneration lacks the three EAGLE-3 methods" in message
    assert "(two are needed to serve)" in message
    assert "first release that has them 0.5.10" in message
    assert "first that also keeps ids in decode graphs 0.5.11" in message
    assert codes(findings) == {"ENG102"}
    assert overall_remedy(findings) is Remedy.ENGINE


def test_ids_lost_in_decode_graphs_name_the_option_and_the_releases():
    read = reading(taps=phases((3, 31, 59), (2, 30, 58)), decode_graphs="default")
    findings = judged(specimen(reading=read, profile=profile(graphs=Graphs(
        ids_hold=False, disable_option="--disable-cuda-graph", cost="slower decoding"))))  # fmt: skip
    message = the(findings, "ENG105").message
    assert "decode graphs keep the default" in message
    assert "either `--disable-cuda-graph` (slower decoding) or 0.5.11 to 0.5.12.post1 with the same config" in message
    assert the(findings, "TAP101").message.startswith("decode reads 2, 30, 58 where training had 3, 31, 59")
    assert overall_remedy(findings) is Remedy.CONFIG


def test_decode_graphs_that_cannot_be_turned_off_leave_only_another_build():
    read = reading(taps=phases((3, 31, 59), (2, 30, 58)), decode_graphs="default")
    findings = judged(specimen(reading=read, profile=profile(graphs=Graphs(ids_hold=False))))
    assert overall_remedy(findings) is Remedy.ENGINE


def test_a_dormant_capture_patch_is_only_mentioned():
    patch = Patch(name="embedding-capture", purpose="capture", summary="", active_depths=(0,))
    findings = judged(specimen(profile=profile(patches=(patch,))))
    assert decide(findings) == "pass"
    assert "the embedding-capture patch is dormant with these ids" in the(findings, "ENG104").message


def test_taps_in_another_order_are_had_by_converting():
    findings = judged(specimen(trained=trained(59, 31, 3), reading=reading(expressible=False)))
    assert codes(findings) == {"TAP101", "TAP108"}
    assert overall_remedy(findings) is Remedy.CONVERT


@pytest.mark.parametrize("missing", [(), ("lm_head.weight",)])
def test_a_null_draft_vocabulary_with_a_reduced_map_is_an_error(missing):
    # Null installs the target's head over the whole vocabulary: its ids reach beyond the map.
    case = specimen(inventory=inventory(without=missing), config=config() | {"draft_vocab_size": None})
    assert "VOC107" in codes(judged(case))


def test_another_stream_is_no_matter_of_config():
    branch = at_depths((3, 31, 59), stream="branch")
    read = reading(taps=replace(phases(()), prefill=branch, decode=branch), expressible=False)
    findings = judged(specimen(target_facts=facts(stream="branch"), reading=read))
    assert the(findings, "TAP101").remedies == (Remedy.ENGINE, Remedy.RETRAIN)
    assert overall_remedy(findings) is Remedy.ENGINE


def test_a_head_of_no_taps_is_legal_with_an_fc_over_one_state():
    case = specimen(
        trained=trained(),
        provenance=capture(recipe="standardize_data_v0", verifier_state="separate"),
        inventory=inventory(adding={"fc.weight": (HIDDEN, HIDDEN)}),
        reading=reading(
            found=(), requested=(), taps=phases(()), captures=False, off_because="the config switches capturing off"
        ),
    )
    assert judged(case) == ()


def test_an_unlisted_build_blocks_and_names_its_neighbors():
    findings = judged(specimen(profile=None, target_facts=None, reading=None))
    finding = the(findings, "ENG101")
    assert "sglang==0.5.11 and sglang==0.5.12.post1" in finding.message
    assert finding.unknown == "engine build"
    assert (decide(findings), overall_remedy(findings)) == ("block", Remedy.UNKNOWN)


def test_an_unlisted_class_blocks_as_unknown():
    findings = judged(specimen(target=target(target_class="NobodyForCausalLM"), target_facts=None,
                               reading=reading(taps=None, outcome=Outcome.UNKNOWN)))  # fmt: skip
    assert codes(findings) == {"ENG102"}
    assert overall_remedy(findings) is Remedy.UNKNOWN


def test_an_unknown_layer_count_blocks():
    findings = judged(specimen(target=target(layers=None), reading=reading(taps=None, outcome=Outcome.UNKNOWN)))
    assert codes(findings) == {"TGT103"}


@pytest.mark.parametrize("changed", [{"hidden_size": 2 * HIDDEN}, {"layers": LAYERS + 1}])
def test_a_target_of_another_shape_needs_another_target_or_training(changed):
    findings = judged(specimen(target=target(**changed)))
    assert overall_remedy(findings) is Remedy.OTHER_TARGET


def test_an_unknown_reason_for_missing_taps_is_never_a_silent_pass():
    findings = judged(specimen(reading=reading(taps=None, outcome=Outcome.UNKNOWN)))
    assert the(findings, "TAP101").unknown == "effective taps"


@pytest.mark.parametrize(
    "code",
    ["no_setter", "setter_raises", "depth_zero", "captures_nothing", "draft_class", "shape", "too_few", "bad_value",
     "tensor_refused", "layers"],
)  # fmt: skip
def test_every_foreseen_failure_blocks(code):
    refused = replace(DRAFT.load, refused=("x",)) if code == "tensor_refused" else DRAFT.load
    read = replace(drafted(load=refused), failures=failure(code, "it fails"))
    assert decide(judged(specimen(reading=read))) == "block"


@pytest.mark.parametrize("name", ["fc.weight", "lm_head.weight"])
def test_a_shape_that_the_build_asserts_blocks(name):
    wrong = {"fc.weight": (2 * HIDDEN, 3 * HIDDEN), "lm_head.weight": (7, HIDDEN)}[name]
    read = reading(failures=failure("shape", f"{name} is {list(wrong)}, but this build makes it otherwise"))
    stored = replace(inventory(adding={name: wrong}), vocab_map=None)
    assert decide(judged(specimen(inventory=stored, reading=read))) == "block"


def test_a_norm_that_a_build_drops_without_a_word_is_an_error():
    stored = inventory(adding={"input_norm.weight": (3 * HIDDEN,)})
    findings = judged(specimen(inventory=stored, reading=loaded(dropped=("input_norm.weight", "t2d"))))
    finding = the(findings, "WGT102")
    assert "drops input_norm.weight without a word" in finding.message
    assert finding.remedies == (Remedy.ENGINE,)


def test_b19_fc_counts_the_targets_hidden_size_not_the_drafters():
    """A narrower drafter is legal: 3 x 64 columns for the target, 48 rows of its own."""
    narrow = tensors({"fc.weight": (48, 3 * HIDDEN), "norm.weight": (48,)})
    case = registering(
        inventory=replace(SPECIMEN.inventory, tensors=narrow, vocab_map=None),
        config={"hidden_size": 48, "target_hidden_size": HIDDEN},
    )
    assert judged(case, "registration") == ()


def test_facts_that_differ_between_drafters_of_the_same_weights_warn():
    twins = (Twin(ref="other@2", facts_differ=("/capture/layers",)), Twin(ref="same@1"))
    findings = judged(registering(twins=twins), "registration")
    assert decide(findings) == "warn"
    assert "other@2 has the same weights" in the(findings, "TRN101").message


def test_capturing_that_the_config_switches_off_is_named():
    read = reading(captures=False, off_because="the config switches capturing off", taps=phases(()), requested=())
    findings = judged(specimen(reading=read))
    assert "the config switches capturing off" in the(findings, "TAP101").message
    assert overall_remedy(findings) is Remedy.CONFIG


@pytest.mark.parametrize(("switch", "remedy"), [("/use", Remedy.CONFIG), (None, Remedy.ENGINE)])
def test_b10_a_head_of_no_taps_needs_a_runner_that_can_switch_capturing_off(switch, remedy):
    case = specimen(
        trained=trained(),
        provenance=capture(recipe="standardize_data_v0"),
        inventory=inventory(adding={"fc.weight": (HIDDEN, HIDDEN)}),
        profile=profile(runners=(Runner(keys=(IdKey(pointer=NESTED),), capture_off=switch),)),
    )
    assert the(judged(case), "TAP101").remedies == (remedy,)


@pytest.mark.parametrize(("depths", "remedy"), [((58, 30, 2), Remedy.CONVERT), ((59, 31, 3), Remedy.ENGINE)])
def test_a_class_that_takes_no_ids_allows_converting_only_from_its_default(depths, remedy):
    read = reading(expressible=False, found=(), requested=(), taps=phases((2, 30, 58)))
    case = specimen(target_facts=facts(dialect="fixed_default"), trained=trained(*depths), reading=read)
    assert the(judged(case), "TAP108").remedies[0] is remedy


def test_a_prefix_that_the_build_doubles_is_mended_by_renaming():
    build = profile(drafts=(replace(PROFILE.drafts[0], model_prefix="doubled", unknown_tensor="warned"),))
    case = specimen(
        profile=build,
        inventory=inventory(without=("norm.weight",), adding={"model.norm.weight": (HIDDEN,)}),
        reading=loaded(dropped=("model.norm.weight",)),
    )
    finding = the(judged(case), "WGT102")
    assert finding.remedies[0] is Remedy.CONVERT
    assert "drops model.norm.weight with no more than a warning" in finding.message


def test_a_build_that_refuses_missing_tensors_is_said_to():
    build = profile(drafts=(replace(PROFILE.drafts[0], missing_tensor="refused"),))
    finding = the(judged(specimen(profile=build, reading=loaded(untouched=("norm.weight",)))), "WGT101")
    assert "sglang==0.5.12.post1 refuses to start" in finding.message


def test_a_class_that_no_listed_release_serves_says_so():
    case = specimen(
        target_facts=facts(refused="its model type is not taken for EAGLE-3"),
        lineage=replace(SPECIMEN.lineage, entries=()),
        reading=reading(taps=None, outcome=Outcome.REFUSES),
    )
    message = the(judged(case), "ENG102").message
    assert message.endswith("its model type is not taken for EAGLE-3; no listed release serves it")
