"""Inspects a drafter directory, or the same files as stored blobs: all facts, or all that is wrong.

Only config, safetensors, index, tokenizer and template files are taken; everything else is listed as ignored. Headers
come first, and bytes are digested only when nothing is wrong with them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from registry.artifacts import identity, names, shard_index, sniffing, vocab_maps
from registry.artifacts.configs import config_of
from registry.artifacts.faults import MOST_FAULTS, FaultError, faulty
from registry.artifacts.files import Files, directory_files, mapped_files, read_exactly
from registry.artifacts.hashing import FileHashes, HashJob, Progress, hash_files
from registry.artifacts.safetensors_header import TensorSpan, read_header
from registry.artifacts.shard_index import ShardIndex
from registry.artifacts.tokenizers import TokenizerFacts, tokenizer_facts
from registry.domain.artifact_faults import ArtifactFault, FaultKind
from registry.domain.tensors import Inventory, StoredFile, Tensor, VocabMap

_MOST_IGNORED = 1000
_NUMBERED = re.compile(r"^(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.safetensors$")
_MOST_SHARDS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What a directory holds. `inventory` is None if and only if there are faults."""

    inventory: Inventory | None
    faults: tuple[ArtifactFault, ...] = ()
    """Sorted by file, place and kind."""


def inspect(directory: Path, *, progress: Progress | None = None, hash_contents: bool = True) -> Inspection:
    """Read the drafter (or target) in `directory`.

    Args:
        directory: where its files are; subdirectories count only where an index names a shard in them.
        progress: told (bytes digested, bytes to digest); never from two threads at once.
        hash_contents: False reads headers, configs, tokenizer and values of vocabulary maps only. Then tensors have
            no digest, there is no weights digest, and `files` lacks the weight shards, which have no SHA-256.

    Raises:
        OSError: `directory` does not exist, is no directory, or cannot be listed.
    """
    with directory_files(directory) as files:
        return _inspect(files, progress=progress, hash_contents=hash_contents)


def inspect_files(
    files: Mapping[str, Path], *, progress: Progress | None = None, hash_contents: bool = True
) -> Inspection:
    """Read the same facts from files that lie elsewhere, such as blobs.

    Args:
        files: path of the bytes by claimed name, relative to the drafter directory. Names are checked here.
        progress: as for `inspect`.
        hash_contents: as for `inspect`.
    """
    escapes = _escapes(files)
    if escapes:
        return _refused(escapes)
    return _inspect(mapped_files(files), progress=progress, hash_contents=hash_contents)


def taken_paths(directory: Path, inventory: Inventory) -> dict[str, Path]:
    """Return the path of every taken file in `directory` by its name, for upload."""
    return {file.name: directory / file.name for file in inventory.files}


@dataclass(slots=True)
class _Reading:
    """What is known so far. Faults are collected, so that a user sees all of them at once."""

    files: Files
    faults: list[ArtifactFault] = field(default_factory=list)
    config: Mapping[str, object] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    """Taken files: size in bytes by name."""
    spans: dict[str, tuple[TensorSpan, ...]] = field(default_factory=dict)
    """Weight files: their tensors by offset."""
    tensors: dict[str, Tensor] = field(default_factory=dict)
    tokenizer: TokenizerFacts = field(default_factory=TokenizerFacts)

    def named(self, role: names.Role) -> list[str]:
        return [name for name in self.files.names if names.role_of(name) == role]


def _inspect(files: Files, *, progress: Progress | None, hash_contents: bool) -> Inspection:
    escapes = _escapes(name for name in files.names if names.role_of(name) is not None)
    if escapes:
        return _refused(escapes)
    reading = _Reading(files)
    _read_config(reading)
    _read_weights(reading)
    _measure_small_files(reading)
    if reading.faults:
        return _refused(reading.faults)
    try:
        vocab_map = _vocab_map(reading)
        hashes = _hash(reading, progress=progress, contents=hash_contents)
        reading.tokenizer = tokenizer_facts(files, {name: found.sha256 for name, found in hashes.items()})
    except FaultError as error:
        return _refused([error.fault])
    if reading.tokenizer.faults:
        return _refused(reading.tokenizer.faults)
    return Inspection(inventory=_inventory(reading, hashes, vocab_map=vocab_map))


def _escapes(claimed: Iterable[str]) -> tuple[ArtifactFault, ...]:
    """Return the faults of names that must not become paths or records."""
    reasons = ((name, names.unsafe_reason(name)) for name in claimed)
    return tuple(
        names.escape_fault(name, reason=reason, file=names.printable(name), where="").fault
        for name, reason in islice(((name, reason) for name, reason in reasons if reason is not None), MOST_FAULTS)
    )


def _refused(faults: Iterable[ArtifactFault]) -> Inspection:
    ordered = sorted(set(faults), key=lambda fault: (fault.file, fault.where, fault.kind, fault.observed))
    return Inspection(inventory=None, faults=tuple(ordered))


def _read_config(reading: _Reading) -> None:
    try:
        read = config_of(reading.files, names.CONFIG)
    except FileNotFoundError:
        expected = "the drafter's config.json: it is stored as evidence of how the drafter was built"
        reading.faults.append(
            faulty(FaultKind.CONFIG_MISSING, names.CONFIG, observed="there is no such file", expected=expected).fault
        )
    except FaultError as error:
        reading.faults.append(error.fault)
    else:
        if isinstance(read, tuple):
            reading.faults.extend(read)
        else:
            reading.config = read


def _read_weights(reading: _Reading) -> None:
    index = _index(reading)
    if isinstance(index, tuple):
        reading.faults.extend(index)
        return
    shards = _shards(reading, index)
    if not shards:
        reading.faults.extend(_no_weights(reading))
        return
    complete = True
    for shard in shards:
        complete &= _read_shard(reading, shard, index)
        if not complete and len(reading.faults) > MOST_FAULTS:
            return
    if not complete:
        return
    if index is not None:
        reading.faults.extend(islice(shard_index.disagreements(index, reading.tensors), MOST_FAULTS))
    if not reading.tensors:
        expected = "at least one tensor"
        reading.faults.append(
            faulty(FaultKind.WEIGHTS_MISSING, shards[0], observed="no tensor at all", expected=expected).fault
        )


def _index(reading: _Reading) -> ShardIndex | tuple[ArtifactFault, ...] | None:
    found = reading.named("index")
    if not found:
        return None
    if len(found) > 1 and names.MAIN_INDEX not in found:
        expected = f"one index, or one called {names.MAIN_INDEX}"
        return (faulty(FaultKind.INDEX_MALFORMED, found[1], observed=f"also {found[0]}", expected=expected).fault,)
    name = names.MAIN_INDEX if names.MAIN_INDEX in found else found[0]
    try:
        index = shard_index.read_index(reading.files, name)
        reading.sizes[name] = reading.files.head(name)[1]
    except FaultError as error:
        return (error.fault,)
    return index


def _shards(reading: _Reading, index: ShardIndex | None) -> tuple[str, ...]:
    """Return the weight files that count, and add the faults of those that are too many or too few."""
    beside = [name for name in reading.named("weights") if "/" not in name and not name.startswith("consolidated")]
    if index is not None:
        listed = index.shards()
        unlisted = (name for name in beside if name not in set(listed))
        reading.faults.extend(shard_index.unlisted_shard_fault(index, name) for name in unlisted)
        return listed
    reading.faults.extend(islice(_numbering_faults(beside), MOST_FAULTS))
    return tuple(beside or (name for name in reading.named("weights") if "/" not in name))


def _numbering_faults(shards: list[str]) -> Iterator[ArtifactFault]:
    """Find gaps in shards named `model-00001-of-00003.safetensors` where no index tells what belongs together."""
    numbered = [found for name in shards if (found := _NUMBERED.match(name))]
    for stem, count in sorted({(found["stem"], found["count"]) for found in numbered}):
        for number in range(1, min(int(count), _MOST_SHARDS) + 1):
            name = f"{stem}-{number:05d}-of-{count}.safetensors"
            if name not in shards:
                expected = f"all {int(count)} shards that the other names promise"
                yield faulty(FaultKind.MISSING_SHARD, name, observed="there is no such file", expected=expected).fault


def _no_weights(reading: _Reading) -> Iterator[ArtifactFault]:
    """Say why there are no weights: pickles are named as such, by suffix or by content."""
    found = False
    for name in reading.files.names:
        if "/" in name or names.TRAINER_STATE.match(name):
            continue
        what = (
            "weights under a suffix of torch pickles"
            if names.is_pickled_weights(name)
            else _pickle_inside(reading, name)
        )
        if what is not None:
            found = True
            yield ArtifactFault(
                kind=FaultKind.PICKLE,
                file=names.printable(name),
                observed=f"{what}: loading one can run code",
                expected="*.safetensors: convert it in isolation with a weights-only loader and register the result",
            )
    if not found:
        observed = "no *.safetensors in the directory"
        expected = "model.safetensors, or shards with their index"
        yield faulty(FaultKind.WEIGHTS_MISSING, "", observed=observed, expected=expected).fault


def _pickle_inside(reading: _Reading, name: str) -> str | None:
    if names.role_of(name) is not None:
        return None  # looked at as what it should be
    try:
        head, size = reading.files.head(name)
    except FaultError:
        return None
    return sniffing.pickle_kind(head, size=size)


def _read_shard(reading: _Reading, shard: str, index: ShardIndex | None) -> bool:
    """Read one header; return False where its tensors stay unknown."""
    try:
        with reading.files.open(shard) as file:
            header = read_header(file.stream, size=file.size, file=shard)
            reading.sizes[shard] = file.size
    except FileNotFoundError:
        if index is None:
            raise
        reading.faults.append(shard_index.missing_shard_fault(index, shard))
        return False
    except FaultError as error:
        reading.faults.append(error.fault)
        return False
    if isinstance(header, tuple):
        reading.faults.extend(header)
        return False
    reading.spans[shard] = header.tensors
    for span in header.tensors:
        tensor = Tensor(name=span.name, dtype=span.dtype, shape=span.shape, file=shard)
        reading.faults.extend(_tensor_faults(reading, tensor))
        reading.tensors.setdefault(span.name, tensor)
    return True


def _tensor_faults(reading: _Reading, tensor: Tensor) -> Iterator[ArtifactFault]:
    first = reading.tensors.get(tensor.name)
    if first is not None and first.file != tensor.file:
        observed = f"the tensor is also in {first.file}"
        yield faulty(
            FaultKind.DUPLICATE_KEY, tensor.file, where=tensor.name, observed=observed, expected="every tensor once"
        ).fault
    if vocab_maps.is_vocab_tensor(tensor.name):
        try:
            vocab_maps.check(tensor)
        except FaultError as error:
            yield error.fault


def _measure_small_files(reading: _Reading) -> None:
    """Note the sizes of config, tokenizer and template files, and refuse those that are something else."""
    for name in reading.files.names:
        if names.role_of(name) not in {"config", "tokenizer", "template"}:
            continue
        try:
            head, size = reading.files.head(name)
        except FaultError as error:
            reading.faults.append(error.fault)
            continue
        reading.sizes[name] = size
        pretender = sniffing.disguise(head, file=name, size=size)
        if pretender is not None:
            reading.faults.append(pretender)


def _vocab_map(reading: _Reading) -> VocabMap | None:
    values = []
    for shard, spans in reading.spans.items():
        wanted = [span for span in spans if vocab_maps.is_vocab_tensor(span.name)]
        if not wanted:
            continue
        with reading.files.open(shard) as file:
            for span in wanted:
                file.stream.seek(span.begin)
                values.append((reading.tensors[span.name], read_exactly(file.stream, span.end - span.begin)))
    return vocab_maps.summarize(sorted(values, key=lambda pair: pair[0].name))


def _hash(reading: _Reading, *, progress: Progress | None, contents: bool) -> dict[str, FileHashes]:
    """Digest the taken files; only those that are no weights where `contents` is False."""
    chosen = sorted(name for name in reading.sizes if contents or name not in reading.spans)
    jobs = [_job(reading, name) for name in chosen]
    return dict(zip(chosen, hash_files(jobs, progress=progress), strict=True))


def _job(reading: _Reading, name: str) -> HashJob:
    spans = tuple((span.begin, span.end) for span in reading.spans.get(name, ()))
    return HashJob(open=partial(reading.files.open, name), size=reading.sizes[name], spans=spans)


def _inventory(reading: _Reading, hashes: Mapping[str, FileHashes], *, vocab_map: VocabMap | None) -> Inventory:
    digested = {
        span.name: digest
        for shard, found in hashes.items()
        for span, digest in zip(reading.spans.get(shard, ()), found.spans, strict=True)
    }
    tensors = tuple(
        Tensor(name=name, dtype=tensor.dtype, shape=tensor.shape, digest=digested.get(name), file=tensor.file)
        for name, tensor in sorted(reading.tensors.items())
    )
    return Inventory(
        files=tuple(
            StoredFile(name=name, size=reading.sizes[name], sha256=found.sha256, role=names.role_of(name) or "")
            for name, found in sorted(hashes.items())
        ),
        ignored=_ignored(reading),
        tensors=tensors,
        config=reading.config,
        vocab_map=vocab_map,
        weights_digest=identity.weights_digest(tensors) if len(digested) == len(tensors) else None,
        tokenizer_digest=reading.tokenizer.tokenizer_digest,
        chat_template_digest=reading.tokenizer.chat_template_digest,
        python_files=tuple(names.printable(name) for name in reading.files.names if _is_code(name)),
    )


def _ignored(reading: _Reading) -> tuple[str, ...]:
    taken = reading.sizes.keys() | {f"{name.split('/')[0]}/" for name in reading.sizes if "/" in name}
    return tuple(names.printable(name) for name in reading.files.names if name not in taken)[:_MOST_IGNORED]


def _is_code(name: str) -> bool:
    return name.endswith(".py") and "/" not in name
