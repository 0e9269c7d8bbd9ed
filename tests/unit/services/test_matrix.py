"""The matrix against judging build by build: ranges and equal facts save work and change no answer."""

from dataclasses import replace

import pytest
from fakes.profiles import profile, target_facts
from fakes.shipped import shipped

from registry.documents.matrix import MatrixRequest, matrix_bytes, parse_request
from registry.domain.errors import Invalid, NotFound, Refused
from registry.domain.profile import Graphs, IdKey, Runner
from registry.domain.proposal import Build, Proposal
from registry.domain.refs import parse_ref
from registry.domain.versions import Version
from registry.engines.launch import parse_launch
from registry.engines.spelling import with_options
from registry.services import matrix as matrices
from registry.services.cases import subject_of
from registry.services.judging import judge
from registry.services.matrix import matrix, matrix_of
from registry.services.profiles import ShippedProfiles

KIMI = "KimiK25ForConditionalGeneration"
NESTED = "/eagle_config/eagle_aux_hidden_state_layer_ids"
SHIPPED = ShippedProfiles()


@pytest.fixture
async def subject(registry, case):
    await registry.register(case.body("kimi"))
    return subject_of(await registry.records.checkpoint("kimi"))


def asked(subject, profiles=SHIPPED, **parts):
    request = MatrixRequest(checkpoint=parse_ref(subject.ref), **parts)
    return matrix_of(subject, request, target=None, profiles=profiles)


def ranges(made, engine="sglang"):
    return [(row.first, row.last, row.takes) for row in made.rows if row.engine == engine and row.upstream is None]


def config(subject, ids):
    return {**subject.inventory.config, "eagle_config": {"eagle_aux_hidden_state_layer_ids": ids}}


def test_the_founding_case_as_ranges(subject):
    made = asked(subject, engine="sglang")
    assert ranges(made) == [
        ("0.5.9", "0.5.9", "engine"),
        ("0.5.10", "0.5.10.post1", "option"),
        ("0.5.11", "0.5.12.post1", "nothing"),
        ("0.5.13", "0.5.23", "ids"),
    ]
    rows = {row.first: row for row in made.rows}
    assert (rows["0.5.13"].ids, rows["0.5.13"].pointer) == ((3, 31, 59), NESTED)
    assert (rows["0.5.10"].ids, rows["0.5.10"].options) == ((2, 30, 58), ("--disable-cuda-graph",))
    assert "set_eagle3_layers_to_capture" in rows["0.5.9"].obstacle
    assert (rows["0.5.9"].ids, rows["0.5.9"].pointer, rows["0.5.9"].remedy) == (None, None, "engine")


CONFIGS = {"stored": None, "embedding first": [-1, 2, 30], "depths": [3, 31, 59], "out of range": [2, 30, 99]}


def covered(made, build):
    version = Version.parse(build.version)
    releases = [row for row in made.rows if row.engine == build.engine and row.upstream is None]
    return next(row for row in releases if Version.parse(row.first) <= version <= Version.parse(row.last))


@pytest.mark.parametrize("ids", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("runner", [None, "v1"])
@pytest.mark.parametrize("launch", [None, "--disable-cuda-graph --enforce-eager"])
def test_a_row_says_of_every_build_what_its_own_verdict_says(subject, ids, runner, launch):
    draft_config = None if ids is None else config(subject, ids)
    made = asked(subject, runner=runner, draft_config=draft_config, launch_text=launch)
    for engine in ("sglang", "vllm"):
        for version in SHIPPED.upstream(engine):
            build = Build(engine=engine, version=version)
            named = any(entry.name for entry in SHIPPED.get(build).runners)
            proposal = Proposal(
                checkpoint=subject.ref,
                build=build,
                runner=runner if named else None,
                draft_config=draft_config,
                launch=None if launch is None else parse_launch(launch, engine),
            )
            verdict, row = judge(subject, proposal, profiles=SHIPPED), covered(made, build)
            assert (row.decision, row.remedy, row.runner) == (verdict.decision, verdict.remedy, verdict.runner), build
            assert (row.takes == "nothing") == (verdict.decision != "block")
            if row.takes in ("option", "ids_and_option", "ids"):
                spelled = draft_config if row.takes == "option" else _respelled(subject, row)
                helped = replace(proposal, draft_config=spelled, launch=with_options(proposal.launch, row.options))
                assert judge(subject, helped, profiles=SHIPPED).decision != "block", build


def _respelled(subject, row):
    ids = list(row.ids)
    kept = {key: value for key, value in subject.inventory.config.items() if key != "eagle_config"}
    nested = {"eagle_config": {"eagle_aux_hidden_state_layer_ids": ids}}
    return {**kept, **(nested if row.pointer == NESTED else {"eagle_aux_hidden_state_layer_ids": ids})}


def test_builds_with_equal_facts_are_judged_once(subject, monkeypatch):
    judged = []
    original = matrices.row_on
    monkeypatch.setattr(
        matrices, "row_on", lambda made, *args, **kw: (judged.append(made), original(made, *args, **kw))[1]
    )
    facts = {KIMI: target_facts(target_class=KIMI)}
    builds = [profile(version=f"1.{number}", targets=facts, revision=number + 1) for number in range(20)]
    made = asked(subject, shipped(*builds))
    (row,) = made.rows
    assert (row.first, row.last, row.builds, len(judged)) == ("1.0", "1.19", 20, 1)


def test_forks_stand_alone_behind_releases_and_say_what_they_equal(subject):
    plain = {KIMI: target_facts(target_class=KIMI)}
    other = {KIMI: target_facts(target_class=KIMI, dialect="identity")}
    made = asked(
        subject,
        shipped(
            profile(version="1.0", targets=plain),
            profile(version="1.0+repacked", targets=plain, upstream="1.0"),
            profile(version="1.0+patched", targets=other, upstream="1.0"),
            profile(
                version="1.0+own", targets={KIMI: target_facts(target_class=KIMI, stream="branch")}, upstream="1.0"
            ),
            profile(version="1.1", targets=plain),
            profile(version="2.0", targets=other),
        ),
    )
    assert [(row.first, row.last) for row in made.rows[:2]] == [("1.0", "1.1"), ("2.0", "2.0")]
    forks = {row.first: (row.upstream, row.same_as) for row in made.rows[2:]}
    assert forks == {"1.0+own": ("1.0", None), "1.0+patched": ("1.0", "2.0"), "1.0+repacked": ("1.0", "1.0")}


def test_a_runner_that_a_build_lacks_is_no_way_to_serve_on_it(subject):
    keys = (IdKey(pointer=NESTED),)
    facts = {KIMI: target_facts(target_class=KIMI)}
    made = asked(
        subject,
        shipped(
            profile(version="1.0", targets=facts, runners=(Runner(name="v1", keys=keys),)),
            profile(version="2.0", targets=facts, runners=(Runner(name="v2", keys=keys),)),
            profile(version="3.0", targets=facts, runners=(Runner(keys=keys),)),
        ),
        runner="v2",
    )
    lacks, has, single = made.rows
    assert (lacks.takes, lacks.obstacle, lacks.ids) == ("engine", "it has no runner v2", None)
    assert (has.takes, has.runner) == ("nothing", "v2")
    assert (single.takes, single.runner) == ("nothing", None)


def test_ids_and_an_option_are_both_said(subject):
    facts = {KIMI: target_facts(target_class=KIMI)}
    graphs = Graphs(ids_hold=False, disable_option="--disable-cuda-graph")
    profiles = shipped(profile(targets=facts, graphs=graphs))
    (row,) = asked(subject, profiles, draft_config=config(subject, [5, 6, 7])).rows
    assert (row.takes, row.ids, row.options) == ("ids_and_option", (2, 30, 58), ("--disable-cuda-graph",))
    (given,) = asked(subject, profiles, launch_text="--disable-cuda-graph").rows
    assert (given.takes, given.options) == ("nothing", ("--disable-cuda-graph",))


def test_a_config_that_more_than_ids_can_mend_says_what_else(subject):
    strange = {**config(subject, [2, 30, 58]), "architectures": ["KimiK25ForCausalLM"]}
    profiles = shipped(profile(targets={KIMI: target_facts(target_class=KIMI)}))
    (row,) = asked(subject, profiles, draft_config=strange).rows
    assert (row.takes, row.ids) == ("config", (2, 30, 58))


def test_an_empty_set_of_profiles_is_an_empty_matrix(subject):
    assert asked(subject, shipped()).rows == ()


def test_engines_of_which_only_the_counting_is_known_are_left_out(subject):
    facts = {KIMI: target_facts(target_class=KIMI)}
    profiles = shipped(profile(targets=facts), profile(engine="tensorrt-llm", targets=facts))
    assert {row.engine for row in asked(subject, profiles).rows} == {"sglang"}
    with pytest.raises(NotFound) as caught:
        asked(subject, profiles, engine="tensorrt-llm")
    assert caught.value.pointer == "/engine"
    assert "sglang" in caught.value.hint


def test_the_same_question_is_remembered_and_another_config_is_another_question(subject):
    first = asked(subject)
    assert asked(subject) is first
    assert asked(subject, draft_config=config(subject, [-1, 2, 30])) != first


async def test_the_use_case_resolves_names_and_says_where_they_are_wrong(registry, case):
    await registry.register(case.body("kimi"))

    async def ask(**parts):
        document = parse_request({"schema": "roost.matrix-request/1", "checkpoint": "kimi", **parts})
        return await matrix(document=document, records=registry.records, profiles=registry.profiles)

    made = await ask()
    assert (made.checkpoint, made.proposed) == ("kimi@1", False)
    assert [(row.first, row.takes) for row in made.rows] == [("1.0", "nothing"), ("2.0", "engine")]
    assert matrix_bytes(made) == matrix_bytes(await ask(checkpoint="kimi@1"))
    for parts, kind, pointer in (
        ({"checkpoint": "nobody"}, NotFound, "/checkpoint"),
        ({"target": "nobody/knows"}, Refused, "/target"),
        ({"launch": "'open"}, Invalid, "/launch"),
        ({"engine": "nothing"}, NotFound, "/engine"),
    ):
        with pytest.raises(kind) as caught:
            await ask(**parts)
        assert caught.value.pointer == pointer
