"""Print the exact versions of everything this project needs, as installed in the environment that runs this.

.venv/bin/python tools/pin_constraints.py > constraints.txt
"""

import tomllib
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = ("server", "test", "dev")
HEADER = """\
# Exact versions of everything that `make` installs, from an environment in which the whole suite passed.
# `make constraints` writes this file.
"""


def needed(requirements: list[str]) -> set[str]:
    """Return the names of everything that `requirements` need, themselves included."""
    seen: dict[str, set[str]] = {}
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in seen and requirement.extras <= seen[name]:
            continue
        seen[name] = seen.get(name, set()) | requirement.extras
        try:
            further = [Requirement(text) for text in requires(name) or ()]
        except PackageNotFoundError:
            continue
        extras = seen[name] | {""}
        waiting += [
            one for one in further if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in extras)
        ]
    return set(seen)


def main() -> None:
    """Print the constraints."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    direct = [*project["project"]["dependencies"], *project["build-system"]["requires"], "editables"]
    direct += [text for extra in EXTRAS for text in project["project"]["optional-dependencies"][extra]]
    lines = []
    for name in sorted(needed(direct)):
        try:
            lines.append(f"{name}=={version(name)}")
        except PackageNotFoundError:
            lines.append(f"# {name} is not installed here")
    print(HEADER + "\n".join(lines))


if __name__ == "__main__":
    main()
