"""`roost target`: the models whose tokens drafters are verified by."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from roost import option_values
from roost.client import Client, in_path
from roost.failures import COULD_NOT_RUN, Misused, Refused
from roost.inputs import fault_lines, read_config, unreadable
from roost.problems import ProblemFailure
from roost.progress import Bar
from roost.screen import Screen, takes_format
from roost.tables import facts, table

_CREATED: Final = 201
_NOT_FOUND: Final = 404

_DIGESTS: Final = {"digest": "digest", "tokenizer_digest": "tokenizer", "chat_template_digest": "chat template"}
"""Facts that may come later, and what people call them."""

_NEEDED: Final = {"target_class": "class", "layers": "layer count", "hidden_size": "hidden size"}
"""Facts of a config without which hardly anything can be judged."""

_DRAFT_CLASS: Final = re.compile(r"eagle|medusa|mtp|nextn|speculator|dflash", re.IGNORECASE)
"""What the names of draft classes hold and those of targets do not."""
_WIDEST: Final = 40
"""Characters of a cell; a commit fits."""


@click.group(name="target")
def command() -> None:
    """Add, list and show target models."""


@command.command(name="add")
@click.argument("name", callback=option_values.name)
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--config", type=click.Path(path_type=Path), metavar="FILE", help="The target's config.json; enough alone."
)
@click.option(
    "--revision", metavar="COMMIT", callback=option_values.revision, help="The commit on the model hub, all 40 digits."
)
@click.option(
    "--digests",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="SHA-256 of its shards: output of `sha256sum`, or hub metadata. Nothing large is read then.",
)
@click.option("--tokenizer", type=click.Path(path_type=Path), metavar="DIR", help="Where its tokenizer files are.")
@takes_format
def add(
    name: str,
    directory: Path | None,
    config: Path | None,
    revision: str | None,
    digests: Path | None,
    tokenizer: Path | None,
    *,
    screen: Screen,
) -> None:
    """Add a target from its config or directory.

    Adding the same target again changes nothing, and fills in digests that were missing.
    """
    if (directory is None) == (config is None):
        raise Misused("a target is read from DIR or from --config FILE: give one of them")
    document: dict[str, object] = {"schema": "roost.target/1", "name": name}
    if directory is not None:
        document |= _from_directory(directory, weights=digests is None, screen=screen)
    elif config is not None:
        document["config"] = dict(read_config(config))
    given = {
        "revision": revision,
        "digest": None if digests is None else _shard_list_digest(digests),
        **({} if tokenizer is None else _tokenizer_digests(tokenizer)),
    }
    document |= {key: value for key, value in given.items() if value is not None}
    client = Client.from_environment()
    before = _registered(client, name, revision)
    answer = client.post("/v1/targets", document)
    found = answer.json()
    for doubt in doubts(found):
        screen.warn(doubt)
    done = "added" if answer.status == _CREATED else _filled_in(before, found)
    screen.result(answer.body, f"{done} {found['name']}\n{_facts(found)}")


def _registered(client: Client, name: str, revision: str | None) -> Mapping[str, Any]:
    """Return what is registered under this name and revision; empty where nothing is."""
    try:
        found: dict[str, Any] = client.get(f"/v1/targets/{in_path(name)}", revision=revision).json()
    except ProblemFailure as failure:
        if failure.problem.get("status") != _NOT_FOUND:
            raise
        return {}
    return found if found.get("revision") == revision else {}


def _filled_in(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Say what an addition changed of a target that was there."""
    added = [word for key, word in _DIGESTS.items() if after.get(key) and not before.get(key)]
    return f"{', '.join(added)} added to" if added and before else "unchanged, registered already:"


def doubts(target: Mapping[str, Any]) -> Iterator[str]:
    """Yield what makes one doubt that this is a target, or that it will be found again. Pure."""
    name, class_ = target["name"], str(target.get("target_class") or "")
    missing = [word for key, word in _NEEDED.items() if target.get(key) is None]
    if missing:
        yield f"the config of {name} does not say its {', '.join(missing)}: checks that need it will block as unknown"
    if _DRAFT_CLASS.search(class_):
        yield f"{class_} looks like the class of a drafter, not of a target; was the other config.json meant?"
    revision = target.get("revision")
    if revision is not None and not option_values.is_commit(revision):
        yield f"revision {revision!r} is no whole commit: what it names can change, and registered facts do not"


@command.command(name="list")
@takes_format
def list_targets(*, screen: Screen) -> None:
    """List registered targets."""
    items = list(Client.from_environment(refusal_exit=COULD_NOT_RUN).items("/v1/targets"))
    headings = ["NAME", "REVISION", "CLASS", "LAYERS", "HIDDEN", "VOCABULARY"]
    empty = "No target is registered yet. `roost target add NAME --config config.json` adds one."
    text = table(headings, [_row(item) for item in items], paint=screen.paint) if items else empty
    screen.result({"items": items}, text)


@command.command(name="show")
@click.argument("name", callback=option_values.name)
@click.option("--revision", metavar="COMMIT", help="Default: the newest.")
@takes_format
def show(name: str, revision: str | None, *, screen: Screen) -> None:
    """Show one target."""
    client = Client.from_environment(refusal_exit=COULD_NOT_RUN)
    answer = client.get(f"/v1/targets/{in_path(name)}", revision=revision)
    document = answer.json()
    screen.result(answer.body, f"{screen.paint(document['name'], 'bold')}\n{_facts(document)}")


def _from_directory(directory: Path, *, weights: bool, screen: Screen) -> dict[str, object]:
    from registry.artifacts.directory import inspect  # noqa: PLC0415 - only where there is a directory

    try:
        with Bar("reading", screen=screen) as bar:
            found = inspect(directory, progress=bar.at, hash_contents=weights)
    except OSError as error:
        raise unreadable(directory, error) from None
    if found.inventory is None:
        raise Refused(f"{directory} cannot be used", details=fault_lines(found.faults))
    inventory = found.inventory
    seen = {
        "digest": inventory.weights_digest,
        "tokenizer_digest": inventory.tokenizer_digest,
        "chat_template_digest": inventory.chat_template_digest,
    }
    return {"config": dict(inventory.config)} | {key: value for key, value in seen.items() if value is not None}


def _shard_list_digest(path: Path) -> str:
    from registry.artifacts.shard_lists import (  # noqa: PLC0415 - only where a list is given
        ShardListError,
        digest_of_shards,
        read_shard_list,
    )

    try:
        return digest_of_shards(read_shard_list(path))
    except OSError as error:
        raise unreadable(path, error) from None
    except ShardListError as error:
        raise Refused(f"{path} is no list of digests", details=error.faults) from None


def _tokenizer_digests(directory: Path) -> dict[str, object]:
    from registry.artifacts.tokenizers import inspect_tokenizer  # noqa: PLC0415 - only where there is one

    try:
        found = inspect_tokenizer(directory)
    except OSError as error:
        raise unreadable(directory, error) from None
    if found.faults:
        raise Refused(f"the tokenizer in {directory} cannot be used", details=fault_lines(found.faults))
    if found.tokenizer_digest is None and found.chat_template_digest is None:
        raise Refused(f"{directory} holds no tokenizer and no chat template that are known")
    return {"tokenizer_digest": found.tokenizer_digest, "chat_template_digest": found.chat_template_digest}


def _row(item: Mapping[str, Any]) -> list[str]:
    keys = ("name", "revision", "target_class", "layers", "hidden_size", "vocab_size")
    return ["-" if item.get(key) is None else str(item[key])[:_WIDEST] for key in keys]


def _facts(document: Mapping[str, Any]) -> str:
    names = {
        "revision": "revision",
        "target_class": "class",
        "layers": "layers",
        "hidden_size": "hidden size",
        "vocab_size": "vocabulary",
        "digest": "digest",
        "tokenizer_digest": "tokenizer",
        "chat_template_digest": "chat template",
    }
    return facts([(name, document.get(key)) for key, name in names.items()])
