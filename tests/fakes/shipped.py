"""A shipped set of made-up profiles, read the way the real ones are."""

import json

from registry.documents import engine_profile
from registry.documents.canonical import canonical_bytes, sha256_of
from registry.domain.profile import Profile
from registry.services.profiles import INDEX, ShippedProfiles


def shipped(*profiles: Profile) -> ShippedProfiles:
    """Return a set that holds exactly `profiles`."""
    files = {f"{profile.engine}-{profile.version}.json": profile for profile in profiles}
    documents = {name: canonical_bytes(engine_profile.render(profile)) for name, profile in files.items()}
    entries = [
        {
            "engine": profile.engine,
            "version": profile.version,
            "file": name,
            "digest": sha256_of(documents[name]),
            "upstream": profile.upstream,
        }
        for name, profile in files.items()
    ]
    index = json.dumps({"set_digest": sha256_of(json.dumps(entries).encode()), "profiles": entries}).encode()
    return ShippedProfiles(lambda file: index if file == INDEX else documents[file])
