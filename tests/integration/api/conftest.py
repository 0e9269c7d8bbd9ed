"""The service as its own process on real Postgres, with the founding case's target registered."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fakes.founding import Founding, founding
from fakes.http_service import Client
from fakes.service_process import Service, running


@pytest.fixture(scope="session")
def case(tmp_path_factory: pytest.TempPathFactory) -> Founding:
    return founding(tmp_path_factory.mktemp("founding"))


@pytest.fixture(scope="session")
def service(
    make_database: Callable[[str, str], Any],
    migrated_template: str,
    tmp_path_factory: pytest.TempPathFactory,
    case: Founding,
) -> Iterator[Service]:
    """One service for all tests that only add to it; each takes a name of its own."""
    database = make_database("api", migrated_template)
    with running(database.service_url, tmp_path_factory.mktemp("data")) as started:
        assert started.client.post("/v1/targets", case.target).status == 201
        yield started


@pytest.fixture(scope="session")
def client(service: Service) -> Client:
    return service.client


@pytest.fixture(scope="session")
def _salts() -> Iterator[int]:
    return itertools.count(1000)


@pytest.fixture
def fresh(case: Founding, _salts: Iterator[int]) -> Founding:
    """The founding case with weights that no other test registers."""
    return case.with_weights(next(_salts))
