"""What every engine file exports: one `ENGINE` record. Engines are found by walking this package, never listed."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from registry.domain.errors import NotFound
from registry.domain.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """What the launch files must state."""

    profile: Profile
    runner: str | None
    draft_steps: int
    """Draft tokens per verification step, in a chain."""
    options: tuple[str, ...] = ()
    """Further options that the build needs to serve the trained taps."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that the build needs beside its options, such as one that picks the runner; mostly none."""


def _no_variables(_runner: str) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One engine: how its draft configs are written and how it is launched."""

    name: str
    title: str
    write_ids: Callable[[Mapping[str, object], tuple[int, ...], Profile], dict[str, object]]
    """(config, ids, profile) -> a config that spells these ids for this build and nothing that it would misread."""
    launch_options: Callable[[LaunchPlan], tuple[str, ...]]
    """Every launch option, as words; the draft directory is written as `.`."""
    launch_files: Callable[[LaunchPlan], Mapping[str, str]]
    """File name -> text, by typed serializers only."""
    pick_runner: Callable[[str], Mapping[str, str]] = _no_variables
    """Runner -> the environment variables that make a build with several runners use it."""


def environment_file(plan: LaunchPlan) -> Mapping[str, str]:
    """Return `launch.env` with a `KEY=VALUE` line per variable; no file where no variable is needed."""
    lines = "".join(f"{name}={value}\n" for name, value in plan.environment.items())
    return {"launch.env": lines} if lines else {}


@cache
def engines() -> Mapping[str, Engine]:
    """Return every engine by name, found by walking `registry.engines`."""
    package = importlib.import_module("registry.engines")
    found = {}
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if module.ispkg:
            continue
        engine = getattr(importlib.import_module(f"registry.engines.{module.name}"), "ENGINE", None)
        if isinstance(engine, Engine):
            found[engine.name] = engine
    return found


def engine(name: str) -> Engine:
    """Return the engine called `name`.

    Raises:
        NotFound: there is no such engine.
    """
    try:
        return engines()[name]
    except KeyError:
        raise NotFound(f"no engine is called {name!r}", hint=f"Known: {', '.join(engines())}.") from None
