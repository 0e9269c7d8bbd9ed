"""The founding case, end to end, on a registry of its own: what `make demo` runs.

Every step is the real command; what is printed after `$` can be typed. Data and results lie in `.demo/`, which git
ignores. Whatever happens, the registry that was started is stopped.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any, Final

from founding_case import TARGET_NAME, TARGET_REVISION, FoundingCase, write_founding_case

ROOT: Final = Path(__file__).parents[1]
HOME: Final = Path(".demo")
DATA: Final = HOME / "data"
NAME: Final = "kimi-k2.5-eagle3"
ROOST: Final = Path(sys.executable).with_name("roost")
COLORS: Final = sys.stdout.isatty() and not os.environ.get("NO_COLOR")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of the table: a build, the ids in the draft config, and options."""

    engine: str
    ids: tuple[int, ...]
    key: str = "nested"
    launch: str = ""


TABLE: Final = (
    Case(engine="sglang==0.5.9", ids=(2, 30, 58)),
    Case(engine="sglang==0.5.9+founding", ids=(2, 30, 58), launch="--disable-cuda-graph"),
    Case(engine="sglang==0.5.10.post1", ids=(2, 30, 58)),
    Case(engine="sglang==0.5.10.post1", ids=(2, 30, 58), launch="--disable-cuda-graph"),
    Case(engine="sglang==0.5.11", ids=(2, 30, 58)),
    Case(engine="sglang==0.5.12.post1", ids=(2, 30, 58)),
    Case(engine="sglang==0.5.12.post1", ids=(2, 30, 58), key="top"),
    Case(engine="sglang==0.5.14", ids=(2, 30, 58)),
    Case(engine="sglang==0.5.23", ids=(3, 31, 59)),
    Case(engine="vllm==0.33.0", ids=(3, 31, 59), key="top"),
    Case(engine="vllm==0.33.0", ids=(3, 31, 59)),
)

EMITTED: Final = ("sglang==0.5.23", "vllm==0.33.0")


class StepFailed(Exception):
    """A step of the demo did not end as it should."""


def main() -> int:
    """Run the demo; return its exit code."""
    os.chdir(ROOT)
    started = time.monotonic()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    try:
        _run()
    except StepFailed as error:
        print(f"\nthe demo stopped: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    finally:
        _stop()
    print(f"\n{_bold('done')} in {time.monotonic() - started:.1f} s; the registry is stopped, {HOME}/ stays.")
    return 0


def _run() -> None:
    _stop()  # what a demo that was killed may have left
    case = write_founding_case(HOME / "case")
    _forget_other_facts(case)
    shutil.rmtree(HOME / "emitted", ignore_errors=True)
    _heading("A registry on an embedded Postgres")
    _start()
    _heading("A drafter with the facts of its training")
    _register(case)
    _heading("The config that cost several server restarts: is it what was trained?")
    proposed = ["--draft-config", str(case.embedding_first)]
    _show(["check", NAME, "--engine", "sglang==0.5.9+founding", *proposed], ends_with=1)
    _heading("The same checkpoint on other engine builds")
    _table(case)
    _heading("What two builds need, written, read back and locked")
    for engine in EMITTED:
        _emit(engine)
    _where()


def _start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    arguments = ["up", "--data", str(DATA), "--port", str(port), "--detach"]
    _say(arguments)
    answer = json.loads(_quietly([*arguments, "--format", "json"]))
    os.environ["ROOST_URL"] = answer["url"]
    print(f"the registry answers at {answer['url']}, its data lies in {DATA}/")


def _stop() -> None:
    if DATA.is_dir():
        subprocess.run([ROOST, "down", "--data", DATA], check=False, stdout=subprocess.DEVNULL)  # noqa: S603 - our command


def _end(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _forget_other_facts(case: FoundingCase) -> None:
    """Start over where an earlier demo registered another case: the registry would rightly refuse to mix them."""
    schema = sorted((ROOT / "migrations" / "versions").glob("*.py"))
    files = [case.provenance, case.target_config, case.digests, case.drafter / "model.safetensors", *schema]
    stamp, digest = HOME / "case.sha256", sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    if DATA.is_dir() and (not stamp.is_file() or stamp.read_text(encoding="utf-8") != digest):
        _stop()
        shutil.rmtree(DATA)
    stamp.write_text(digest, encoding="utf-8")


def _register(case: FoundingCase) -> None:
    identity = ["--digests", str(case.digests), "--tokenizer", str(case.tokenizer), "--revision", TARGET_REVISION]
    target = ["target", "add", TARGET_NAME, "--config", str(case.target_config), *identity]
    _say(target)
    _quietly(target)
    register = ["register", str(case.drafter), "--name", NAME, "--provenance", str(case.provenance)]
    _say(register)
    _quietly(register)
    _show(["show", NAME])


def _propose(case: FoundingCase, path: Path, *, ids: Sequence[int], key: str) -> None:
    config = json.loads((case.drafter / "config.json").read_text(encoding="utf-8"))
    del config["eagle_config"]
    if key == "nested":
        config["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": list(ids), "use_aux_hidden_state": True}
    else:
        config["eagle_aux_hidden_state_layer_ids"] = list(ids)
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _table(case: FoundingCase) -> None:
    rows: list[tuple[str, ...]] = [("ENGINE BUILD", "IDS", "OPTIONS", "VERDICT", "PREFILL", "DECODE", "WHAT IT TAKES")]
    rows += [_row(case, judged) for judged in TABLE]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        cells[3] = _painted(cells[3])
        line = "  ".join(cells).rstrip()
        print(_bold(line) if row is rows[0] else line)
    print("trained on depths 3, 31, 59; `nested` ids stand in eagle_config, `top` ids at the top level")


def _row(case: FoundingCase, judged: Case) -> tuple[str, ...]:
    proposed = HOME / "case" / "proposed.json"
    _propose(case, proposed, ids=judged.ids, key=judged.key)
    arguments = ["check", NAME, "--engine", judged.engine, "--draft-config", str(proposed), "--format", "json"]
    if judged.launch:
        arguments += ["--launch", judged.launch]
    verdict = json.loads(_quietly(arguments, may_end_with=(0, 1)))
    ids = f"{judged.key} {','.join(map(str, judged.ids))}"
    taps = [_depths(verdict, phase) for phase in ("prefill", "decode")]
    return (judged.engine, ids, judged.launch, verdict["decision"], *taps, _takes(verdict))


def _depths(verdict: dict[str, Any], phase: str) -> str:
    effective = verdict["effective_taps"]
    return "-" if effective is None else ",".join(str(tap["depth"]) for tap in effective[phase])


def _takes(verdict: dict[str, Any]) -> str:
    """Say in a few words what it takes: the first suggested edit, else the remedy."""
    for finding in verdict["findings"]:
        suggested = finding["suggested"]
        if suggested and suggested["decision"] != "block":
            return " and ".join([*map(_ids, suggested["draft_config"]), *suggested["launch"]])
    remedy = str(verdict["remedy"])
    return {"none": "nothing", "engine": "another build"}.get(remedy, remedy)


def _ids(edit: dict[str, Any]) -> str:
    value = edit.get("value")
    ids: list[int] = next(iter(value.values())) if isinstance(value, dict) else list(value or ())
    return f"{'nested' if edit['path'].startswith('/eagle_config') else 'top'} {','.join(map(str, ids))}"


def _emit(engine: str) -> None:
    out = HOME / "emitted" / engine.replace("==", "-")
    _show(["emit", NAME, "--engine", engine, "--out", str(out)])
    _show(["verify", str(out)])


def _where() -> None:
    _heading("Where it all is")
    for engine in EMITTED:
        print(f"  {HOME / 'emitted' / engine.replace('==', '-')}/")
    print(f"\n  again by hand: {ROOST.relative_to(ROOT)} up --data {DATA}  (`roost --help` lists the rest)")


def _show(arguments: Sequence[str], *, ends_with: int = 0) -> None:
    """Run a command whose output is for people."""
    _say(arguments)
    done = subprocess.run([ROOST, *arguments], check=False)  # noqa: S603 - our own command
    print(flush=True)
    if done.returncode != ends_with:
        raise StepFailed(f"`roost {arguments[0]}` ended with {done.returncode}, expected {ends_with}")


def _quietly(arguments: Sequence[str], *, may_end_with: Sequence[int] = (0,)) -> bytes:
    """Run a command and return what it says on stdout."""
    done = subprocess.run([ROOST, *arguments], check=False, stdout=subprocess.PIPE)  # noqa: S603 - our own command
    if done.returncode not in may_end_with:
        raise StepFailed(f"`roost {arguments[0]}` ended with {done.returncode}")
    return done.stdout


def _say(arguments: Sequence[str]) -> None:
    line = " ".join(["$ roost", *(f"'{word}'" if " " in word else word for word in arguments)])
    print(f"\x1b[36m{line}\x1b[0m" if COLORS else line, flush=True)


def _heading(text: str) -> None:
    print(f"\n{_bold(f'== {text}')}\n", flush=True)


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if COLORS else text


def _painted(cell: str) -> str:
    codes = {"pass": "32", "warn": "33", "block": "31"}
    code = codes.get(cell.strip())
    return f"\x1b[{code}m{cell}\x1b[0m" if COLORS and code else cell


if __name__ == "__main__":
    sys.exit(main())
