"""From what people write to records: NAME, NAME@N, a weights digest, a target's name."""

from registry.domain import digests
from registry.domain.errors import Invalid, NotFound, Refused
from registry.domain.refs import parse_ref
from registry.services.ports import CheckpointStore, TargetStore
from registry.services.records import CheckpointRecord, TargetRecord

_WEIGHTS = "blake3:"


async def find_checkpoint(text: str, *, records: CheckpointStore, pointer: str | None = None) -> CheckpointRecord:
    """Return the checkpoint that `text` names: NAME is the newest version, `blake3:...` the first with these weights.

    Args:
        text: NAME, NAME@N or a weights digest.
        records: where checkpoints are.
        pointer: JSON Pointer to `text` in the document that was sent, if it was in one.

    Raises:
        Invalid: `text` is none of the three.
        NotFound: there is no such checkpoint.
    """
    if text.startswith(_WEIGHTS):
        found = await records.checkpoint_by_digest(_weights_digest(text, pointer))
        if found is None:
            raise NotFound(f"No checkpoint has the weights {text}.", hint="`roost list` shows all.", pointer=pointer)
        return found
    ref = parse_ref(text)
    found = await records.checkpoint(ref.name, ref.version)
    if found is not None:
        return found
    newest = await records.checkpoint(ref.name) if ref.version is not None else None
    if newest is None:
        raise NotFound(f"No drafter is called {ref.name}.", hint="`roost list` shows all.", pointer=pointer)
    raise NotFound(
        f"There is no {ref}; the newest version is {newest.ref}.",
        hint=f"`roost list {ref.name}` shows all.",
        pointer=pointer,
    )


def _weights_digest(text: str, pointer: str | None) -> digests.Digest:
    try:
        return digests.parse(text)
    except ValueError as error:
        raise Invalid(str(error), pointer=pointer) from error


async def registered_target(
    name: str, revision: str | None, *, records: TargetStore, pointer: str = "/provenance/target"
) -> TargetRecord:
    """Return the target that provenance names; without a revision the newest of that name.

    Raises:
        Refused: it is not registered.
    """
    found = await records.target(name, revision)
    if found is None:
        at = f" at revision {revision}" if revision else ""
        option = f" --revision {revision}" if revision else ""
        raise Refused(
            f"The target {name}{at} is not registered.",
            hint=f"Register it first: `roost target add {name} --config config.json{option}`.",
            pointer=pointer,
        )
    return found


async def proposed_target(name: str | None, checkpoint: CheckpointRecord, *, records: TargetStore) -> TargetRecord:
    """Return the target a checkpoint is to run on: the one it was trained for unless another is named.

    Raises:
        Refused: the named target is not registered.
    """
    trained_for = checkpoint.target
    if name is None or name == trained_for.target.name:
        return trained_for
    return await registered_target(name, None, records=records, pointer="/target")
