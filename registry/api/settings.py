"""Settings of the service: where its database and its bytes are, where it listens, how much it takes."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from registry.domain.errors import Invalid

DEFAULT_HOST: Final = "127.0.0.1"
"""The service listens on loopback unless it is told otherwise: it has no authentication."""

DEFAULT_PORT: Final = 8750

BLOB_LIMIT: Final = 1 << 40
"""Bytes of the largest blob that is taken when nothing says otherwise: 1 TiB."""

_REQUIRED: Final = {
    "ROOST_DATABASE_URL": "the URL of the service's database",
    "ROOST_DATA": "the folder of the registry's data (or --data)",
}

LOG_LEVELS: Final = ("critical", "error", "warning", "info", "debug")

_MIB: Final = 1 << 20
_HIGHEST_PORT: Final = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the service is told at its start."""

    database_url: str
    """Of the service role, which may not change what is immutable."""
    data: Path
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    """0: any free port."""
    json_limit: int = 8 * _MIB
    """Bytes of one JSON body."""
    blob_limit: int = BLOB_LIMIT
    """Bytes of one blob."""
    log_level: str = "warning"

    @property
    def blob_root(self) -> Path:
        """The directory of the content-addressed bytes."""
        return self.data / "blobs"

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] = os.environ, *, host: str | None = None, port: int | None = None
    ) -> "Settings":
        """Read settings from `ROOST_*` variables; arguments given here win.

        Raises:
            Invalid: a variable is missing or cannot be read; the message names it.
        """
        required = _required(environment)
        return cls(
            database_url=required["ROOST_DATABASE_URL"],
            data=Path(required["ROOST_DATA"]),
            host=host or environment.get("ROOST_HOST") or DEFAULT_HOST,
            port=_checked_port(_number(environment, "ROOST_PORT", DEFAULT_PORT) if port is None else port),
            blob_limit=_number(environment, "ROOST_BLOB_LIMIT", BLOB_LIMIT),
            log_level=_log_level(environment),
        )


def _required(environment: Mapping[str, str]) -> Mapping[str, str]:
    missing = [name for name in _REQUIRED if not environment.get(name)]
    if missing:
        raise Invalid(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set: "
            f"{', '.join(_REQUIRED[name] for name in missing)}.",
            hint="Set what is missing, or start everything with `roost up`, which runs a Postgres of its own.",
        )
    return environment


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit():
        raise Invalid(f"{name} is {text!r}; expected a whole number.", hint=f"Correct or unset {name}.")
    return int(text)


def _log_level(environment: Mapping[str, str]) -> str:
    level = environment.get("ROOST_LOG_LEVEL") or "warning"
    if level not in LOG_LEVELS:
        raise Invalid(f"ROOST_LOG_LEVEL is {level!r}; expected one of {', '.join(LOG_LEVELS)}.")
    return level


def _checked_port(port: int) -> int:
    if not 0 <= port <= _HIGHEST_PORT:
        raise Invalid(f"The port is {port}; expected 0 to {_HIGHEST_PORT}.", hint="Choose another with --port.")
    return port
