"""Records on their way into a store: small ones, each told from the others by a number."""

import copy
import hashlib
from datetime import UTC, datetime

from fakes import sample_documents

from registry.documents import provenance as provenance_documents
from registry.documents import target as target_documents
from registry.domain.digests import Digest
from registry.domain.tensors import Inventory, StoredFile, Tensor, VocabMap
from registry.services.records import (
    EmissionRecord,
    EmittedFile,
    NewCheckpoint,
    NewProfile,
    TargetRecord,
    VerdictRecord,
)

Json = dict[str, object]

WHEN = datetime(2026, 1, 31, tzinfo=UTC)
TARGET = "moonshotai/Kimi-K2.5"
REVISION = "4d3b2a1c"


def sha256(text: str) -> Digest:
    return Digest(f"sha256:{hashlib.sha256(text.encode()).hexdigest()}")


def weights(number: int) -> Digest:
    return Digest(f"blake3:{number:064x}")


def target_record(*, name: str = TARGET, revision: str | None = REVISION, **members: object) -> TargetRecord:
    """`members` replace members of the document; None takes them out."""
    document = {**sample_documents.target_document(), "name": name, "revision": revision, **members}
    parsed = target_documents.parse({key: value for key, value in document.items() if value is not None})
    return TargetRecord(target=parsed.target, config=parsed.config)


def provenance_document(**facts: object) -> Json:
    """`facts` replace members of the founding case's record."""
    document = copy.deepcopy(sample_documents.provenance_document())
    parsed = provenance_documents.parse({**document, **facts})
    return provenance_documents.render(parsed)


def inventory(number: int) -> Inventory:
    files = (
        StoredFile(name="config.json", size=120, sha256=sha256("config"), role="config"),
        StoredFile(name="model.safetensors", size=4096 + number, sha256=sha256(f"model {number}"), role="weights"),
    )
    tensors = (
        Tensor(name="d2t", dtype="I64", shape=(32,), digest=weights(7), file="model.safetensors"),
        Tensor(name="fc.weight", dtype="BF16", shape=(64, 192), digest=weights(number), file="model.safetensors"),
    )
    return Inventory(
        files=files,
        ignored=("README.md",),
        tensors=tensors,
        config={"architectures": ["LlamaForCausalLMEagle3"], "rms_norm_eps": 1e-6, "eos_token_id": None},
        vocab_map=VocabMap(
            rows=32,
            offset_min=0,
            offset_max=63,
            offset_increasing=True,
            absolute_min=0,
            absolute_max=32,
            absolute_increasing=False,
            all_zero=False,
        ),
        weights_digest=weights(number),
        python_files=(),
    )


def new_checkpoint(name: str = "kimi/eagle3", number: int = 1, *, actor: str = "ada", **facts: object) -> NewCheckpoint:
    """The weights are told by `number`; `facts` replace members of the provenance document."""
    document = provenance_document(**facts)
    provenance = provenance_documents.parse(document)
    return NewCheckpoint(
        name=name,
        weights_digest=weights(number),
        inventory=inventory(number),
        provenance=provenance,
        document=document,
        target_name=provenance.target.name,
        target_revision=provenance.target.revision,
        trained_depths=(3, 31, 59),
        actor=actor,
    )


def verdict_record(ref: str, *, revision: int = 1, body: bytes = b'{"decision":"pass"}') -> VerdictRecord:
    digest = Digest(f"sha256:{hashlib.sha256(body).hexdigest()}")
    return VerdictRecord(id=digest, ref=ref, provenance_revision=revision, body=body, created_at=WHEN)


def emission_record(ref: str, *, number: int = 1) -> EmissionRecord:
    lock = sha256(f"lock {number}")
    files = (
        EmittedFile(name="config.json", size=10, sha256=sha256("emitted config")),
        EmittedFile(name="roost.lock", size=20, sha256=lock),
    )
    return EmissionRecord(
        id=lock,
        ref=ref,
        engine="vllm==0.33.0",
        runner="v2",
        target=TARGET,
        files=files,
        document={"schema": "roost.emission/1", "id": lock},
        created_at=WHEN,
    )


def new_profile(
    version: str = "0.5.9+mine", *, layers: int = 61, origin: str = "added", after: int = 0, actor: str = "ada"
) -> NewProfile:
    """Profiles are told apart by `version`, their facts by `layers`."""
    document = sample_documents.engine_profile_document()
    probe = {"ids": [1], "layers": layers, "depths": [2]}
    targets = {"Made": {"dialect": "plus_one", "default": "early_middle_late", "probes": [probe]}}
    return NewProfile(
        document={**document, "version": version, "targets": targets},
        origin=origin,  # type: ignore[arg-type]  # one of the two
        source_digest=sha256(version) if origin == "node" else None,
        after=after,
        actor=actor,
        reason="read again",
    )
