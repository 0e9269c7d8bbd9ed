"""How long judging one proposal takes, in process, beside reading the same proposal's documents.

    python bench/judging.py [--rounds N]

Method: the founding case on every shipped build, warm; per build the median of N rounds. The first judgment of a
checkpoint also works out what every shipped build needs, which is then kept; it is shown apart.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from registry.artifacts.configs import read_config
from registry.artifacts.directory import inspect
from registry.documents import provenance as provenances
from registry.documents import verdict as verdicts
from registry.domain.proposal import Proposal, parse_build
from registry.domain.target import describe
from registry.services.cases import Subject
from registry.services.judging import judge
from registry.services.profiles import ShippedProfiles
from tools.founding_case import TARGET_NAME, TARGET_REVISION, write_founding_case


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    profiles = ShippedProfiles()
    subject = subject_of_founding()
    builds = [f"{engine}=={version}" for engine in profiles.engines() for version in profiles.versions(engine)]
    print(f"{'build':<24} {'first ms':>9} {'median ms':>10} {'document ms':>12}")
    for build in builds:
        proposal = Proposal(checkpoint=subject.ref, build=parse_build(build))
        first = _timed(lambda proposal=proposal: judge(subject, proposal, profiles=profiles))
        judged = [_timed(lambda proposal=proposal: judge(subject, proposal, profiles=profiles)) for _ in range(rounds)]
        verdict = judge(subject, proposal, profiles=profiles)
        written = [_timed(lambda verdict=verdict: verdicts.verdict_bytes(verdict)) for _ in range(rounds)]
        print(f"{build:<24} {first:>9.2f} {statistics.median(judged):>10.2f} {statistics.median(written):>12.2f}")


def subject_of_founding() -> Subject:
    """Return the founding case, inspected."""
    with tempfile.TemporaryDirectory() as folder:
        case = write_founding_case(Path(folder))
        inventory = inspect(case.drafter).inventory
        config = read_config(case.target_config)
        provenance = provenances.parse(case.provenance.read_bytes())
    assert inventory is not None  # noqa: S101  # the founding case is well-formed
    assert not isinstance(config, tuple)  # noqa: S101
    return Subject(
        ref="founding@1",
        inventory=inventory,
        provenance=provenance,
        trained_target=describe(TARGET_NAME, config, revision=TARGET_REVISION),
        weights_digest=inventory.weights_digest,
    )


def _timed(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - begin)


if __name__ == "__main__":
    main()
