"""`roost rule`: the manual of the rules, offline."""

from typing import TYPE_CHECKING

import click

from roost.failures import Misused
from roost.screen import Screen, takes_format
from roost.tables import table

if TYPE_CHECKING:
    from registry.rules.collection import Catalogue


@click.command(name="rule")
@click.argument("code", required=False)
@takes_format
def command(code: str | None, *, screen: Screen) -> None:
    """Print a rule's manual page, or without CODE list the rules."""
    from registry.rules import catalogue  # noqa: PLC0415 - every rule is a module of its own

    if code is None:
        _list(catalogue(), screen)
    else:
        _show(catalogue(), code, screen)


def _list(rules: "Catalogue", screen: Screen) -> None:
    from registry.rules.manual import record  # noqa: PLC0415 - as above

    items = [record(rule) for rule in rules.rules]
    rows = [
        [rule.code, str(rule.severity), rule.name, str(item["summary"])]
        for rule, item in zip(rules.rules, items, strict=True)
    ]
    text = table(["CODE", "SEVERITY", "NAME", "SUMMARY"], rows, paint=screen.paint)
    screen.result({"version": rules.version, "items": items}, text)


def _show(rules: "Catalogue", code: str, screen: Screen) -> None:
    from registry.rules.manual import record, render_manual  # noqa: PLC0415 - as above

    rule = rules.get(code)
    if rule is None:
        near = ", ".join(rules.nearest(code))
        raise Misused(
            f"there is no rule {code}" + (f"; the nearest: {near}" if near else ""), hint="`roost rule` lists all."
        )
    screen.result(record(rule), render_manual(rule).rstrip())
