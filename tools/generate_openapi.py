"""Write the service's OpenAPI description to `schemas/openapi.json`, or check that it is up to date.

python tools/generate_openapi.py [--check]
"""

import argparse
import sys
from pathlib import Path
from typing import Any, cast

from registry.api.app import create_app
from registry.api.openapi import render
from registry.api.settings import Settings

PLACE = Path(__file__).resolve().parent.parent / "schemas" / "openapi.json"


def content() -> bytes:
    """Return the description; no database and no blob is touched to make it."""
    absent = cast("Any", None)
    settings = Settings(database_url="", data=Path())
    return render(create_app(records=absent, blobs=absent, profiles=absent, settings=settings))


def main() -> int:
    """Write the file, or tell with `--check` whether it is up to date."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the file is out of date")
    wanted = content()
    if not parser.parse_args().check:
        PLACE.write_bytes(wanted)
        return 0
    if PLACE.is_file() and PLACE.read_bytes() == wanted:
        return 0
    print(f"{PLACE.name} is out of date: run `python tools/generate_openapi.py`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
