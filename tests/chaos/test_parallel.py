"""Many commands register different weights under one name at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

COUNT, AT_ONCE = 64, 16


@pytest.mark.timeout(1200)
def test_parallel_registrations_give_consecutive_versions(registry, case):
    lines = [case.arguments(salt, "kimi") for salt in range(COUNT)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in pool.map(lambda line: registry.roost(*line), lines):
            assert done.returncode == 0
    assert registry.versions("kimi") == [*range(1, COUNT + 1)]
