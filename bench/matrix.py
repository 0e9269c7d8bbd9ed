"""How long a matrix over 100 builds takes, in process: the aim is under 200 ms on the server.

    python bench/matrix.py [--builds N] [--rounds N]

Method: the founding case on N fabricated releases of one engine. `repeated`: the shipped profiles of SGLang over and
over under other version numbers, as most releases change nothing for one case. `all differ`: every build has facts of
its own, the worst that can be. Every round asks about a checkpoint that was never asked about; `asked again` is the
same question once more.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from judging import subject_of_founding

from registry.documents import engine_profile
from registry.documents.canonical import canonical_bytes, sha256_of
from registry.documents.matrix import MatrixRequest, matrix_bytes
from registry.domain.profile import Profile
from registry.domain.proposal import Build
from registry.domain.refs import parse_ref
from registry.services.cases import Subject
from registry.services.matrix import matrix_of
from registry.services.profiles import INDEX, Profiles, ShippedProfiles


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builds", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    subject = subject_of_founding()
    print(f"{arguments.builds} builds   {'first ms':>9} {'median ms':>10} {'asked again ms':>15} {'rows':>5}")
    for name, differ in (("repeated", False), ("all differ", True)):
        profiles = _shipped(list(_fabricated(arguments.builds, differ=differ)))
        _figures(name, subject, profiles, rounds=arguments.rounds)


def _figures(name: str, subject: Subject, profiles: Profiles, *, rounds: int) -> None:
    taken, again, rows = [], [], 0
    for round_ in range(rounds):
        asked = replace(subject, ref=f"{name.replace(' ', '-')}@{round_ + 1}")
        request = MatrixRequest(checkpoint=parse_ref(asked.ref))

        def answer(asked: Subject = asked, request: MatrixRequest = request) -> int:
            made = matrix_of(asked, request, target=None, profiles=profiles)
            matrix_bytes(made)
            return len(made.rows)

        spent, rows = _timed(answer)
        taken.append(spent)
        again.append(_timed(answer)[0])
    middle = statistics.median
    print(f"{name:<12} {taken[0]:>9.2f} {middle(taken):>10.2f} {middle(again):>15.2f} {rows:>5}")


def _fabricated(count: int, *, differ: bool) -> Iterator[Profile]:
    packaged = ShippedProfiles()
    known = [packaged.get(Build(engine="sglang", version=version)) for version in packaged.upstream("sglang")]
    shipped = [profile for profile in known if profile is not None]
    for number in range(count):
        profile = shipped[number * len(shipped) // count]
        # A fact that changes no judgment makes builds differ all the same.
        launch = replace(profile.launch, default_draft_steps=number) if differ else profile.launch
        yield replace(profile, version=f"0.5.{number}", launch=launch)


def _shipped(profiles: list[Profile]) -> ShippedProfiles:
    """Return a set of these profiles, all of them read: a service has long read its own."""
    documents = {f"{profile.version}.json": canonical_bytes(engine_profile.render(profile)) for profile in profiles}
    entries = [
        {"engine": "sglang", "version": file.removesuffix(".json"), "file": file, "digest": sha256_of(data)}
        for file, data in documents.items()
    ]
    document = {"set_digest": sha256_of(canonical_bytes(entries)), "profiles": entries}
    index = canonical_bytes(document)
    made = ShippedProfiles(lambda file: index if file == INDEX else documents[file])
    for version in made.versions("sglang"):
        made.get(Build(engine="sglang", version=version))
    return made


def _timed(action: Callable[[], int]) -> tuple[float, int]:
    begin = time.perf_counter()
    result = action()
    return 1000 * (time.perf_counter() - begin), result


if __name__ == "__main__":
    main()
