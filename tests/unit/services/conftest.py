"""A registry in memory with the founding case's target in it, and one made-up build per behavior."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fakes.blobs import FakeBlobs
from fakes.founding import Founding, founding
from fakes.profiles import profile, target_facts
from fakes.records import FakeRecords
from fakes.shipped import shipped

from registry.documents import target as target_documents
from registry.documents.requests import parse_registration
from registry.services.profiles import ShippedProfiles
from registry.services.records import Registered, TargetRecord
from registry.services.registering import register

KIMI = "KimiK25ForConditionalGeneration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    records: FakeRecords
    blobs: FakeBlobs
    profiles: ShippedProfiles

    def upload(self, case: Founding) -> None:
        for data in case.blobs:
            self.blobs.write_bytes(data)

    async def add_target(self, case: Founding) -> None:
        document = target_documents.parse(case.target)
        await self.records.add_target(TargetRecord(target=document.target, config=document.config), actor="setup")

    async def register(self, body: dict[str, object], *, dry_run: bool = False) -> Registered:
        return await register(
            document=parse_registration(body),
            records=self.records,
            blobs=self.blobs,
            profiles=self.profiles,
            actor="ada",
            dry_run=dry_run,
        )


@pytest.fixture(scope="session")
def case(tmp_path_factory: pytest.TempPathFactory) -> Founding:
    return founding(tmp_path_factory.mktemp("founding"))


@pytest.fixture
async def registry(tmp_path: Path, case: Founding) -> Registry:
    """`sglang==1.0` reads ids as the outputs of layers, `sglang==2.0` lacks the methods."""
    facts = target_facts(target_class=KIMI)
    lacking = replace(facts, missing_methods=("set_embed_and_head",), needed_methods=("set_embed_and_head",))
    made = Registry(
        records=FakeRecords(),
        blobs=FakeBlobs(tmp_path / "blobs"),
        profiles=shipped(
            profile(targets={KIMI: facts}),
            profile(version="2.0", targets={KIMI: lacking}),
        ),
    )
    made.upload(case)
    await made.add_target(case)
    return made
