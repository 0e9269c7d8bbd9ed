"""Command line: write one profile per build, and the index that lists them."""

import argparse
from pathlib import Path

from tools.profiles_from_facts.write import every_profile, write

_OUT = Path(__file__).parents[2] / "registry" / "engines" / "profiles"


def main() -> None:
    """Generate the shipped profiles."""
    parser = argparse.ArgumentParser(prog="profiles_from_facts", description="Write engine profiles from facts.")
    parser.add_argument("facts", type=Path, help="folder with sglang.json and vllm.json")
    parser.add_argument("--out", type=Path, default=_OUT, help="folder for the profiles (default: the package's own)")
    arguments = parser.parse_args()
    written = write(every_profile(arguments.facts), arguments.out)
    for name, classes in written.items():
        print(f"{name}: {classes} target classes")


if __name__ == "__main__":
    main()
