import pytest
from fakes.sample_documents import proposal_document

from registry.documents import proposal
from registry.documents.proposal import ProposalDocument
from registry.domain.proposal import Build, Launch, Proposal
from registry.domain.refs import Ref


def test_a_proposal_comes_back_as_written():
    parsed = proposal.parse(proposal_document())
    assert parsed.checkpoint == Ref(name="moonshotai/Kimi-K2.5-eagle3", version=1)
    assert parsed.build == Build(engine="sglang", version="0.5.23")
    assert parsed.launch_text == "--disable-cuda-graph"
    assert proposal.render(parsed) == proposal_document()


def test_null_is_absent_and_absent_parts_are_left_out():
    needed = {"schema": "roost.proposal/1", "checkpoint": "kimi", "engine": "vllm==0.33.0"}
    nulls = dict.fromkeys(("target", "runner", "draft_config", "launch"))
    assert proposal.parse({**needed, **nulls}) == proposal.parse(needed)
    assert proposal.render(proposal.parse({**needed, **nulls})) == needed


def test_an_empty_config_and_empty_options_are_there():
    document = {**proposal_document(), "draft_config": {}, "launch": ""}
    assert proposal.render(proposal.parse(document)) == document


def test_a_command_line_over_several_lines_is_taken():
    text = "python -m sglang.launch_server \\\n\t--disable-cuda-graph"
    assert proposal.parse({**proposal_document(), "launch": text}).launch_text == text


def test_equal_proposals_have_equal_digests():
    one = proposal.parse({**proposal_document(), "engine": "SGLang==0.5.23", "runner": None})
    assert proposal.digest(one) == proposal.digest(proposal.parse(proposal_document()))
    other = proposal.parse({**proposal_document(), "launch": ""})
    assert proposal.digest(one) != proposal.digest(other)


@pytest.mark.parametrize("text", [None, "--x"])
def test_a_domain_proposal_has_a_document(text):
    judged = Proposal(
        checkpoint="kimi@2",
        build=Build(engine="sglang", version="0.5.23"),
        launch=None if text is None else Launch(text=text),
    )
    assert proposal.of(judged) == ProposalDocument(
        checkpoint=Ref(name="kimi", version=2), build=judged.build, launch_text=text
    )
