"""Which database URLs are understood, and what every session is told."""

import pytest

from registry.domain.errors import Invalid
from registry.store.connect import SETTINGS, connect, normalized, session_options


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_usual_spelling_is_understood(scheme):
    url = normalized(f"{scheme}://role:p%40ss@db.example:6432/roost?sslmode=require")
    assert url.drivername == "postgresql+psycopg"
    assert (url.username, url.password, url.host, url.port, url.database) == (
        "role", "p@ss", "db.example", 6432, "roost",
    )  # fmt: skip
    assert url.query["sslmode"] == "require"


@pytest.mark.parametrize("url", ["", "roost", "sqlite://", "mysql://u:secret@h/d", "postgresql+asyncpg://u:secret@h/d"])
def test_other_urls_are_refused_without_repeating_them(url):
    with pytest.raises(Invalid, match="ROOST_DATABASE_URL") as caught:
        connect(url)
    assert "secret" not in str(caught.value)


def test_a_port_that_is_no_number_is_refused():
    with pytest.raises(Invalid):
        normalized("postgresql://u@h:port/d")


def test_options_of_the_url_come_last_and_win():
    options = session_options(normalized("postgresql://h/d?options=-c%20lock_timeout%3D1s"))
    assert options.endswith("-c lock_timeout=1s")
    assert options.index("lock_timeout=10s") < options.index("lock_timeout=1s")


def test_connecting_opens_nothing():
    engine = connect("postgresql://nobody@127.0.0.1:1/none")
    assert engine.pool.checkedout() == 0
    assert set(SETTINGS) >= {"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"}
