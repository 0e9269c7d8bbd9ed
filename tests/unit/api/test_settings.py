from pathlib import Path

import pytest

from registry.api.settings import DEFAULT_PORT, Settings
from registry.domain.errors import Invalid

NEEDED = {"ROOST_DATABASE_URL": "postgresql://x", "ROOST_DATA": "/data"}


def test_the_least_that_must_be_said_leaves_the_service_on_loopback():
    settings = Settings.from_environment(NEEDED)
    assert (settings.host, settings.port) == ("127.0.0.1", DEFAULT_PORT)
    assert settings.blob_root == Path("/data/blobs")


def test_arguments_win_over_the_environment():
    environment = {**NEEDED, "ROOST_HOST": "::1", "ROOST_PORT": "1"}
    settings = Settings.from_environment(environment, host="127.0.0.2", port=0)
    assert (settings.host, settings.port) == ("127.0.0.2", 0)
    assert Settings.from_environment(environment).port == 1


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_what_is_missing_is_named(name):
    with pytest.raises(Invalid, match=name):
        Settings.from_environment({**NEEDED, name: ""})


@pytest.mark.parametrize("value", ["x", "-1", "1.5", "٣", "65536"])
def test_a_port_that_is_none_is_refused(value):
    with pytest.raises(Invalid, match=r"(?i)port"):
        Settings.from_environment({**NEEDED, "ROOST_PORT": value})


def test_a_log_level_that_is_none_is_refused():
    with pytest.raises(Invalid, match="ROOST_LOG_LEVEL"):
        Settings.from_environment({**NEEDED, "ROOST_LOG_LEVEL": "loud"})


def test_limits_can_be_set():
    assert Settings.from_environment({**NEEDED, "ROOST_BLOB_LIMIT": "12"}).blob_limit == 12
