import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

SGLANG = {
    "sglang/__init__.py": b"",
    "sglang/_version.py": b"__version__ = version = '0.5.9'\n",
    "sglang/srt/models/llama.py": b"class LlamaForCausalLM:\n    pass\n",
    "sglang/srt/models/deep/er.py": b"x = 1\n",
    "sglang/srt/speculative/eagle_worker.py": b"# worker\n",
    "sglang/srt/server_args.py": b"# arguments\n",
    "sglang/srt/layers/attention/flash.py": b"# not relevant\n",
    "sglang/srt/models/notes.txt": b"not python\n",
}
VLLM = {
    "vllm/__init__.py": b"",
    "vllm/version.py": b'__version__ = "0.11.2"\n',
    "vllm/model_executor/models/llama.py": b"class LlamaForCausalLM:\n    pass\n",
    "vllm/v1/spec_decode/eagle.py": b"# eagle\n",
    "vllm/config/speculative.py": b"# config\n",
    "vllm/distributed/parallel_state.py": b"# not relevant\n",
}


def metadata(name: str, version: str) -> bytes:
    return f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n\nVersion: not this one\n".encode()


@pytest.fixture
def sglang() -> dict[str, bytes]:
    return dict(SGLANG)


@pytest.fixture
def vllm() -> dict[str, bytes]:
    return dict(VLLM)


@pytest.fixture
def make_wheel(tmp_path: Path) -> Callable[..., Path]:
    def make(files: Mapping[str, bytes], *, name: str = "sglang-0.5.9-py3-none-any.whl", version: str | None = "0.5.9"):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in files.items():
                archive.writestr(member, data)
            if version is not None:
                project = name.partition("-")[0]
                archive.writestr(f"{project}-{version}.dist-info/METADATA", metadata(project, version))
        return path

    return make


@pytest.fixture
def make_sdist(tmp_path: Path) -> Callable[..., Path]:
    def make(
        files: Mapping[str, bytes],
        *,
        name: str = "vllm-0.11.2.tar.gz",
        extra: Callable[[tarfile.TarFile], None] = lambda _: None,
        tar_format: int = tarfile.PAX_FORMAT,
    ):
        path = tmp_path / name
        top = name.removesuffix(".tar.gz")
        project, _, version = top.partition("-")
        with tarfile.open(path, "w:gz", format=tar_format) as archive:
            for member, data in {**files, "PKG-INFO": metadata(project, version)}.items():
                entry = tarfile.TarInfo(f"{top}/{member}")
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
            extra(archive)
        return path

    return make


@pytest.fixture
def make_tree(tmp_path: Path) -> Callable[..., Path]:
    def make(files: Mapping[str, bytes], *, below: str = "tree") -> Path:
        root = tmp_path / below
        for name, data in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return root

    return make
