"""The description is whole: every reference leads somewhere, every route says which problems it answers with."""

import json
from pathlib import Path
from typing import Any

import pytest

from registry import resources
from registry.api import openapi
from registry.api.app import create_app
from registry.api.routes import every_route
from registry.api.settings import Settings
from registry.services.profiles import ShippedProfiles


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    absent: Any = None
    settings = Settings(database_url="", data=Path())
    app = create_app(records=absent, blobs=absent, profiles=ShippedProfiles(), settings=settings)
    return json.loads(openapi.render(app))


def operations(document):
    return [
        (method, path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]  # fmt: skip


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def test_every_route_is_described_once(document):
    described = {(method.upper(), path) for method, path, _ in operations(document)}
    served = {(method, route.path_format) for route in every_route() for method in route.methods}
    assert described == served
    ids = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(set(ids)) == len(ids)


def test_every_reference_leads_somewhere(document):
    found = set(references(document))
    assert found
    for reference in found:
        node = document
        assert reference.startswith("#/components/schemas/"), reference
        for key in reference.removeprefix("#/").split("/"):
            node = node[key.replace("~1", "/").replace("~0", "~")]
        assert node


def test_every_operation_describes_its_problems_and_no_other_form_of_error(document):
    for method, path, operation in operations(document):
        errors = {status: answer for status, answer in operation["responses"].items() if int(status) >= 400}
        assert "500" in errors, (method, path)
        if method == "post":
            assert {"413", "415", "422", "503"} <= set(errors), (method, path)
        for answer in errors.values():
            assert list(answer["content"]) == ["application/problem+json"], (method, path)


def test_every_post_takes_a_document_of_the_schemas(document):
    bodies = {path: op["requestBody"]["content"] for method, path, op in operations(document) if method == "post"}
    kinds = {path: content["application/json"]["schema"]["$ref"].rsplit("/", 1)[1] for path, content in bodies.items()}
    assert kinds == {
        "/v1/targets": "target",
        "/v1/checkpoints": "registration",
        "/v1/provenance/{ref}": "amendment",
        "/v1/check": "proposal",
        "/v1/matrix": "matrix-request",
        "/v1/verdicts": "proposal",
        "/v1/emissions": "emission-request",
        "/v1/engines": "engine-profile-addition",
    }


def test_every_published_schema_is_a_component(document):
    files = {path.name.removesuffix(".schema.json") for path in resources.schemas_dir().glob("*.schema.json")}
    assert files <= set(document["components"]["schemas"])


def test_the_published_description_is_up_to_date(document):
    published = (resources.schemas_dir() / "openapi.json").read_text()
    assert json.loads(published) == document, "run tools/generate_openapi.py"


def test_every_operation_says_in_words_what_it_does(document):
    for method, path, operation in operations(document):
        assert operation.get("description"), (method, path)
