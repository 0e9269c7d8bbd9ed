"""A proposal: what somebody wants to run. Every part is optional but the checkpoint and the engine build."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """An engine build as proposals name it: `engine==version`."""

    engine: str
    version: str

    def __str__(self) -> str:
        """Return `engine==version`."""
        return f"{self.engine}=={self.version}"


def parse_build(text: str) -> Build:
    """Parse `engine==version`.

    Raises:
        ValueError: `text` is not of that form.
    """
    engine, separator, version = text.partition("==")
    plain = all(character.isalnum() or character in "._+-" for character in engine + version)
    if not separator or not engine or not version or not plain:
        msg = f"{text!r} is not an engine build: expected ENGINE==VERSION, such as sglang==0.5.23"
        raise ValueError(msg)
    return Build(engine=engine.lower(), version=version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """How a launch line asks for speculative decoding."""

    option: str
    """The option that does."""
    method: str | None = None
    """What it selects, as the engine takes it; None where the line leaves that to the engine."""
    broken: str = ""
    """Why the engine cannot read the option; empty where it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Launch options as read from a command line: only those a reading needs; the rest is not judged."""

    text: str
    options: Mapping[str, str | None] = field(default_factory=dict)
    """Option -> value, None for a bare flag; the dashed long name is the key."""
    environment: Mapping[str, str] = field(default_factory=dict)
    starts: str | None = None
    """The engine whose server the line starts; None for bare options."""
    speculation: Speculation | None = None
    """None: nothing on the line asks for it."""
    elsewhere: bool = False
    """Further options may come from a file or a variable that the line names."""

    def has(self, option: str | None) -> bool:
        """Tell whether `option` is given."""
        return option is not None and option in self.options


RunnerName = Literal["v1", "v2"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What somebody wants to run."""

    checkpoint: str
    """NAME@N."""
    build: Build
    target: str | None = None
    runner: RunnerName | None = None
    draft_config: Mapping[str, object] | None = None
    """None: the config stored with the checkpoint is judged."""
    launch: Launch | None = None
