import json
import zipfile
from pathlib import Path

import pytest

from registry import resources
from registry.domain.errors import NotFound, Unavailable


def test_the_schemas_of_a_checkout_are_found():
    assert (resources.schemas_dir() / "provenance.schema.json").is_file()
    assert {"provenance", "target", "proposal", "verdict", "lock", "checkpoint"} <= set(resources.schema_kinds())


def test_every_kind_has_its_text():
    for kind in resources.schema_kinds():
        assert json.loads(resources.schema_text(kind))["$id"] == f"{kind}.schema.json"


@pytest.mark.parametrize("kind", ["nothing", "../provenance", "", "provenance.schema.json", "Provenance"])
def test_other_kinds_are_not_found(kind):
    with pytest.raises(NotFound, match="kind"):
        resources.schema_text(kind)


def laid_out(root: Path, *places: str) -> Path:
    package = root / "registry"
    package.mkdir()
    for place in places:
        folder = root / place
        folder.mkdir(parents=True)
        (folder / "marker").touch()
    return package


def test_in_a_wheel_the_data_inside_the_package_wins(tmp_path):
    package = laid_out(tmp_path, "registry/data/schemas", "schemas")
    assert resources._data_dir("schemas", package, marker="marker") == package / "data" / "schemas"


def test_in_a_checkout_the_folder_beside_the_package_is_taken(tmp_path):
    package = laid_out(tmp_path, "schemas")
    assert resources._data_dir("schemas", package, marker="marker") == tmp_path / "schemas"


def test_a_folder_of_that_name_that_is_not_ours_is_not_taken(tmp_path):
    package = laid_out(tmp_path, "schemas")
    with pytest.raises(Unavailable, match="Install roost again"):
        resources._data_dir("schemas", package, marker="another")


def test_schemas_are_read_from_inside_a_zipapp(tmp_path, monkeypatch):
    # A package inside a zip has no directory; the loader hands out its text.
    archive = tmp_path / "roost.pyz"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("registry/data/schemas/verdict.schema.json", "{}")
    monkeypatch.setattr(resources, "_PACKAGE", archive / "registry")
    monkeypatch.setattr("importlib.resources.files", lambda _name: zipfile.Path(archive, "registry/"))
    assert resources.schema_text("verdict") == "{}"
    with pytest.raises(NotFound, match="no schema"):
        resources.schema_text("target")
