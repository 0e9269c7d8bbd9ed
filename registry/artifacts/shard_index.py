"""Reads `*.safetensors.index.json`: which shard holds which tensor, and whether the shards agree.

The names in an index come from whoever wrote the file; none becomes a path before `names.checked` has passed it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from registry.artifacts import strict_json
from registry.artifacts.faults import MOST_FAULTS, FaultError, faulty
from registry.artifacts.files import Files
from registry.artifacts.names import WEIGHTS_SUFFIX, checked, printable
from registry.domain.artifact_faults import ArtifactFault, FaultKind
from registry.domain.tensors import Tensor

INDEX_CAP = 64 << 20
"""Most bytes of an index; one of 100,000 tensors has about 10 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardIndex:
    """An index whose names were checked. `weight_map` has the shard of each tensor, by tensor name."""

    file: str
    weight_map: Mapping[str, str] = field(default_factory=dict)

    def shards(self) -> tuple[str, ...]:
        """Return the shard names, sorted."""
        return tuple(sorted(set(self.weight_map.values())))


def read_index(files: Files, name: str) -> ShardIndex | tuple[ArtifactFault, ...]:
    """Read the index called `name`.

    Raises:
        FaultError: it cannot be read.
    """
    data = files.read(name, cap=INDEX_CAP, kind=FaultKind.INDEX_MALFORMED)
    try:
        document = strict_json.parse(data)
    except strict_json.MalformedJsonError as error:
        return (_malformed(name, observed=str(error)),)
    if document.repeated:
        return tuple(
            ArtifactFault(
                kind=FaultKind.DUPLICATE_KEY,
                file=name,
                where=printable(pointer),
                observed="the key occurs more than once",
                expected="every key once",
            )
            for pointer in document.repeated[:MOST_FAULTS]
        )
    weight_map = document.value.get("weight_map") if isinstance(document.value, dict) else None
    if not isinstance(weight_map, dict) or not weight_map:
        return (_malformed(name, observed="no object at /weight_map"),)
    faults = tuple(islice(_name_faults(name, weight_map), MOST_FAULTS))
    return faults or ShardIndex(file=name, weight_map=weight_map)


def missing_shard_fault(index: ShardIndex, shard: str) -> ArtifactFault:
    """Return the fault of a shard that the index names and the directory lacks."""
    tensors = sorted(tensor for tensor, file in index.weight_map.items() if file == shard)
    return ArtifactFault(
        kind=FaultKind.MISSING_SHARD,
        file=shard,
        observed="there is no such file",
        expected=f"the shard that {index.file} names for {len(tensors)} tensors, the first being '{tensors[0]}'",
    )


def disagreements(index: ShardIndex, tensors: Mapping[str, Tensor]) -> Iterator[ArtifactFault]:
    """Yield where `index` and the tensors found in the shards differ, sorted by tensor name."""
    for name in sorted(index.weight_map.keys() | tensors.keys()):
        listed, found = index.weight_map.get(name), tensors.get(name)
        if found is None:
            yield _disagreement(
                index, name, observed=f"no such tensor in {listed}", expected=f"it, as {index.file} says"
            )
        elif listed is None:
            yield _disagreement(index, name, observed=f"it is in {found.file}", expected="an entry in weight_map")
        elif listed != found.file:
            yield _disagreement(index, name, observed=f"it is in {found.file}", expected=f"it in {listed}")


def unlisted_shard_fault(index: ShardIndex, shard: str) -> ArtifactFault:
    """Return the fault of a safetensors file beside the index that the index does not name."""
    return ArtifactFault(
        kind=FaultKind.INDEX_DISAGREES,
        file=shard,
        observed=f"{index.file} does not name this file",
        expected="only the shards that the index names: some engines would load this one too; move it elsewhere",
    )


def _name_faults(file: str, weight_map: Mapping[str, object]) -> Iterator[ArtifactFault]:
    seen: set[str] = set()
    for tensor, shard in weight_map.items():
        where = printable(f"/weight_map/{strict_json.escape(tensor)}"[:1024])
        if not isinstance(shard, str):
            yield _malformed(file, observed="a shard name that is no text", where=where)
            continue
        if shard in seen:
            continue
        seen.add(shard)
        try:
            checked(shard, file=file, where=where)
        except FaultError as error:
            yield error.fault
            continue
        if not shard.endswith(WEIGHTS_SUFFIX):
            yield _malformed(file, observed=f"the shard name '{shard}'", expected=f"*{WEIGHTS_SUFFIX}", where=where)


def _malformed(
    file: str,
    *,
    observed: str,
    expected: str = "an object with weight_map, shard names by tensor name",
    where: str = "",
) -> ArtifactFault:
    return faulty(FaultKind.INDEX_MALFORMED, file, where=where, observed=observed, expected=expected).fault


def _disagreement(index: ShardIndex, tensor: str, *, observed: str, expected: str) -> ArtifactFault:
    return faulty(
        FaultKind.INDEX_DISAGREES, index.file, where=printable(tensor), observed=observed, expected=expected
    ).fault
