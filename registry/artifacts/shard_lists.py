"""Reads lists of shard digests: what `sha256sum` prints, and the metadata that model hubs serve.

For targets of hundreds of GB, whose files nobody wants to read again. Only weight shards count: `*.safetensors`, or
`*.bin` where there are none; every other file of the list is skipped.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from registry.artifacts import identity, strict_json
from registry.artifacts.names import TRAINER_STATE, WEIGHTS_SUFFIX, printable
from registry.domain.digests import Digest

CAP = 64 << 20
"""Most bytes of a list; one of 100,000 files has about 10 MB."""

_MOST_FAULTS = 20
_GNU = re.compile(r"^(\\?)([0-9a-fA-F]{64}) [ *](.+)$")
_BSD = re.compile(r"^(\\?)SHA256 \((.+)\) = ([0-9a-fA-F]{64})$")
_HEX = re.compile(r"^(?:sha256:)?([0-9a-fA-F]{64})$")
_ESCAPES = {r"\\": "\\", r"\n": "\n", r"\r": "\r"}

_EXPECTED = (
    "expected lines of `sha256sum *.safetensors`, or a hub's file list as JSON "
    "(/api/models/REPO?blobs=true or /api/models/REPO/tree/COMMIT)"
)


class ShardListError(ValueError):
    """A list of shard digests cannot be used; `faults` says why, one sentence each with its place."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One weight file of a list: its name as listed, its SHA-256, and its size in bytes where the list has it."""

    name: str
    sha256: Digest
    size: int | None = None


def read_shard_list(path: Path) -> tuple[Shard, ...]:
    """Read the list at `path`; see `parse_shard_list`.

    Raises:
        OSError: it cannot be read.
        ShardListError: it is too large or no list.
    """
    with path.open("rb") as stream:
        data = stream.read(CAP + 1)
    if len(data) > CAP:
        raise ShardListError([f"the list has more than {CAP} bytes; {_EXPECTED}"])
    return parse_shard_list(data)


def parse_shard_list(data: bytes) -> tuple[Shard, ...]:
    """Return the weight shards of a `sha256sum` list or of hub metadata, sorted by name.

    Raises:
        ShardListError: the bytes are no such list, hold no weight shard, one without SHA-256, or one twice.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ShardListError([f"not UTF-8 at byte {error.start}; {_EXPECTED}"]) from None
    faults: list[str] = []
    listed = _hub_files(data, faults) if text.lstrip()[:1] in {"[", "{"} else _sum_lines(text, faults)
    shards = _weights(listed, faults)
    if faults:
        raise ShardListError(faults[:_MOST_FAULTS])
    return shards


def digest_of_shards(shards: Iterable[Shard]) -> Digest:
    """Return the shard-list digest of `shards`."""
    return identity.shard_list_digest(shard.sha256 for shard in shards)


@dataclass(frozen=True, slots=True)
class _Listed:
    name: str
    sha256: str | None
    size: int | None
    place: str


def _sum_lines(text: str, faults: list[str]) -> list[_Listed]:
    listed = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"line {number}"
        if found := _GNU.match(line):
            escaped, digest, name = found.groups()
        elif found := _BSD.match(line):
            escaped, name, digest = found.groups()
        else:
            faults.append(f"{place} is no line of sha256sum: '{printable(line[:80])}'")
            continue
        if escaped:
            name = re.sub(r"\\[\\nr]", lambda escape: _ESCAPES[escape.group()], name)
        listed.append(_Listed(name, digest.lower(), None, place))
    if faults:
        # A file that is no list at all has one fault, not one per line.
        faults[:] = [f"{faults[0]}; {_EXPECTED}", *(faults[1:] if listed else ())]
    return listed


def _hub_files(data: bytes, faults: list[str]) -> list[_Listed]:
    try:
        document = strict_json.parse(data.removeprefix(b"\xef\xbb\xbf"))
    except strict_json.MalformedJsonError as error:
        faults.append(f"{error}; {_EXPECTED}")
        return []
    faults.extend(f"the key at {pointer} occurs more than once" for pointer in document.repeated)
    entries, base = document.value, ""
    if isinstance(entries, dict):
        entries, base = entries.get("siblings"), "/siblings"
    if not isinstance(entries, list):
        faults.append(f"no list of files at '{base}'; {_EXPECTED}")
        return []
    listed = []
    for place, entry in enumerate(entries):
        found = _hub_file(entry, place=f"{base}/{place}")
        if found is None:
            faults.append(f"{base}/{place} has neither 'path' nor 'rfilename'; {_EXPECTED}")
        elif not (isinstance(entry, dict) and entry.get("type") == "directory"):
            listed.append(found)
    return listed


def _hub_file(entry: object, *, place: str) -> _Listed | None:
    if not isinstance(entry, dict):
        return None
    name = entry.get("rfilename", entry.get("path"))
    if not isinstance(name, str):
        return None
    lfs = entry.get("lfs")
    members = lfs if isinstance(lfs, dict) else {}
    written = members.get("sha256", members.get("oid"))
    found = _HEX.match(written) if isinstance(written, str) else None
    size = entry.get("size", members.get("size"))
    return _Listed(name, found[1].lower() if found else None, size if type(size) is int else None, place)


def _weights(listed: list[_Listed], faults: list[str]) -> tuple[Shard, ...]:
    chosen = [file for file in listed if file.name.endswith(WEIGHTS_SUFFIX)] or [
        file for file in listed if file.name.endswith(".bin") and not TRAINER_STATE.match(_base(file.name))
    ]
    if not chosen and not faults:
        faults.append(f"no weight shard (*.safetensors or *.bin) among {len(listed)} files; {_EXPECTED}")
    shards, names, digests = [], dict[str, str](), dict[str, str]()
    for file in chosen:
        shown = printable(file.name)
        if file.sha256 is None:
            faults.append(f"{file.place}: '{shown}' has no SHA-256 under 'lfs'; ask the hub with blobs=true")
            continue
        if file.name in names:
            faults.append(f"{file.place}: '{shown}' is listed twice, first at {names[file.name]}")
        elif file.sha256 in digests:
            faults.append(f"{file.place}: '{shown}' has the same SHA-256 as '{printable(digests[file.sha256])}'")
        names.setdefault(file.name, file.place)
        digests.setdefault(file.sha256, file.name)
        shards.append(Shard(name=file.name, sha256=Digest(f"sha256:{file.sha256}"), size=file.size))
    return tuple(sorted(shards, key=lambda shard: shard.name))


def _base(name: str) -> str:
    return name.rpartition("/")[2]
