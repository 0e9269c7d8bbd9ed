"""Reads `config.json` as evidence: a JSON object with every key once. What it says is not interpreted here."""

from collections.abc import Mapping
from pathlib import Path

from registry.artifacts import strict_json
from registry.artifacts.faults import MOST_FAULTS, FaultError, faulty
from registry.artifacts.files import Files, mapped_files
from registry.artifacts.names import CONFIG, printable
from registry.domain.artifact_faults import ArtifactFault, FaultKind

CONFIG_CAP = 8 << 20
"""Most bytes of a JSON config; real ones stay below 100 kB."""

_OBJECT = "one JSON object (RFC 8259) in UTF-8"


def read_config(path: Path) -> Mapping[str, object] | tuple[ArtifactFault, ...]:
    """Read a config file that the user named, such as a target's or a draft config.

    A link is refused like elsewhere. Faults name the file by its last part.

    Raises:
        FileNotFoundError: there is no such file.
    """
    path.lstat()
    files = mapped_files({path.name: path})
    try:
        return parse_config(files.read(path.name, cap=CONFIG_CAP, kind=FaultKind.CONFIG_MALFORMED), file=path.name)
    except FaultError as error:
        return (error.fault,)


def parse_config(data: bytes, *, file: str = CONFIG) -> Mapping[str, object] | tuple[ArtifactFault, ...]:
    """Return the object in `data`, or all that is wrong with it.

    Integers beyond 2**53 become doubles and NaN and Infinity these words, since canonical JSON has neither.
    """
    try:
        document = strict_json.parse(data, numbers="interchange")
    except strict_json.MalformedJsonError as error:
        return (faulty(FaultKind.CONFIG_MALFORMED, file, observed=str(error), expected=_OBJECT).fault,)
    if not isinstance(document.value, dict):
        observed = f"a JSON {type(document.value).__name__}"
        return (faulty(FaultKind.CONFIG_MALFORMED, file, observed=observed, expected=_OBJECT).fault,)
    if document.repeated:
        return tuple(
            ArtifactFault(
                kind=FaultKind.DUPLICATE_KEY,
                file=file,
                where=printable(pointer),
                observed="the key occurs more than once",
                expected="every key once: readers disagree about which one counts",
            )
            for pointer in document.repeated[:MOST_FAULTS]
        )
    return document.value


def config_of(files: Files, name: str) -> Mapping[str, object] | tuple[ArtifactFault, ...]:
    """Read and parse the JSON config called `name` among `files`.

    Raises:
        FileNotFoundError: there is no such file.
        FaultError: it cannot be read.
    """
    return parse_config(files.read(name, cap=CONFIG_CAP, kind=FaultKind.CONFIG_MALFORMED), file=name)
