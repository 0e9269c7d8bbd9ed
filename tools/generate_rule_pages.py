"""Write what is generated from the rules: `docs/rules/*.md`, its index, and `schemas/rules.json`.

    python tools/generate_rule_pages.py           # write
    python tools/generate_rule_pages.py --check   # fail, and name the files, where they are not up to date

Both carry the records of the rule files and nothing else, so a reviewer sees a changed rule as its readers will.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from registry.rules import catalogue
from registry.rules.manual import manual_of, record, render_manual
from registry.rules.rule import FAMILIES, Rule

ROOT = Path(__file__).resolve().parent.parent
PAGES = Path("docs/rules")
RECORDS = Path("schemas/rules.json")


def generated() -> dict[Path, str]:
    """Return every generated file, by its path from the root of the repository."""
    rules = catalogue().rules
    records = {"schema": "roost.rules/1", "rules": [record(rule) for rule in rules]}
    return {
        **{PAGES / f"{rule.code}.md": render_manual(rule) for rule in rules},
        PAGES / "README.md": index(rules),
        RECORDS: json.dumps(records, indent=2, ensure_ascii=False) + "\n",
    }


def index(rules: Iterable[Rule]) -> str:
    """Return the index page: one table per family."""
    lines = [
        "# Rules",
        "",
        "What `roost check` and `roost register` judge by. `roost rule CODE` prints a page.",
        "These pages are generated from `registry/rules/`; change a rule there and run `tools/generate_rule_pages.py`.",
        "",
    ]
    by_family: dict[str, list[Rule]] = {}
    for rule in rules:
        by_family.setdefault(rule.code[:3], []).append(rule)
    for family, members in by_family.items():
        lines += [f"## {family}: {FAMILIES[family]}", "", "| rule | name | usually | the fault |", "|---|---|---|---|"]
        for rule in members:
            summary = manual_of(rule).summary.replace("|", "\\|").replace("\n", " ")
            lines.append(f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity} | {summary} |")
        lines.append("")
    return "\n".join(lines)


def outdated(root: Path, files: Mapping[Path, str]) -> list[Path]:
    """Return the paths under `root` that are missing, differ, or belong to no rule any more."""
    stale = [path for path, text in files.items() if not (root / path).is_file() or _text(root / path) != text]
    there = {page.relative_to(root) for page in (root / PAGES).glob("*.md")}
    return sorted([*stale, *(there - set(files))])


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def write(root: Path, files: Mapping[Path, str]) -> None:
    """Write the files under `root`, and take away pages that belong to no rule."""
    for path in outdated(root, files):
        if path in files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(files[path], encoding="utf-8")
        else:
            (root / path).unlink()


def main() -> int:
    """Write or check; return the exit code."""
    parser = argparse.ArgumentParser(description="Generate docs/rules and schemas/rules.json from the rules.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail where files are not up to date")
    if not parser.parse_args().check:
        write(ROOT, generated())
        return 0
    stale = outdated(ROOT, generated())
    for path in stale:
        sys.stderr.write(f"{path} is not what the rules say: run python tools/generate_rule_pages.py\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
