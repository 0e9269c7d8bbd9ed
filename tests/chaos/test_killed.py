"""Client, service and Postgres are killed at random moments of a registration: no visible half, the repeat succeeds."""

import os
import random
import time

import pytest

MOMENTS = int(os.environ.get("ROOST_CHAOS_MOMENTS", "20"))
"""Kills per test. The seed is printed by pytest-randomly; -p randomly -p "randomly_seed=N" repeats a run."""

LONGEST = 0.4
"""Seconds within which a registration ends on a slow machine."""

NAME = "kimi"

pytestmark = pytest.mark.timeout(1200)


def kill_after_start(registry, case, salt, kill):
    process = registry.command(*case.arguments(salt, NAME))
    time.sleep(random.uniform(0, LONGEST))
    kill(process)
    said, wrong = process.communicate(timeout=180)
    assert "Traceback" not in said + wrong


def nothing_is_half_and_the_repeat_succeeds(registry, case, salt):
    seen = registry.versions(NAME)
    assert seen in ([*range(1, salt + 1)], [*range(1, salt + 2)])
    registry.roost(*case.arguments(salt, NAME))
    assert registry.versions(NAME) == [*range(1, salt + 2)]


def test_the_client_is_killed(registry, case):
    for salt in range(MOMENTS):
        kill_after_start(registry, case, salt, lambda process: process.kill())
        nothing_is_half_and_the_repeat_succeeds(registry, case, salt)


def test_the_service_is_killed(registry, case):
    for salt in range(MOMENTS):
        kill_after_start(registry, case, salt, lambda _: registry.kill_service())
        registry.up()
        nothing_is_half_and_the_repeat_succeeds(registry, case, salt)


def test_postgres_is_killed(registry, case):
    for salt in range(MOMENTS):
        kill_after_start(registry, case, salt, lambda _: registry.kill_postgres())
        registry.down(check=False)
        registry.up()
        nothing_is_half_and_the_repeat_succeeds(registry, case, salt)
