"""`roost serve`: the API on a Postgres that somebody else runs."""

import os
from pathlib import Path

import click

from roost.screen import Screen, takes_format
from roost.server_extra import server_module


@click.command(name="serve")
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Overrides ROOST_DATA.")
@click.option("--port", type=click.IntRange(0, 65535), help="Overrides ROOST_PORT (8750).")
@click.option("--host", help="Overrides ROOST_HOST (127.0.0.1).")
@takes_format
def command(data: Path | None, port: int | None, host: str | None, *, screen: Screen) -> None:
    """Serve the API on a Postgres of yours.

    ROOST_DATABASE_URL names the database, as the service's role; ROOST_DATA the folder of the files. The database must
    be at head: `roost db migrate` brings it there.
    """
    settings = server_module("registry.api.settings")
    environment = dict(os.environ)
    if data is not None:
        environment["ROOST_DATA"] = str(data.expanduser().absolute())
    chosen = settings.Settings.from_environment(environment, host=host, port=port)
    server_module("registry.api.serve").serve(chosen, ready=lambda url: screen.note(f"the registry answers at {url}"))
