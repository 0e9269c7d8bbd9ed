"""Release versions of engines, ordered: `0.5.10rc0 < 0.5.10 < 0.5.10.post1 < 0.5.11`, local parts last."""

import re
from dataclasses import dataclass
from functools import total_ordering

_WRITTEN = re.compile(r"^(\d+(?:\.\d+)*)(?:(?:[-_.]?)(a|b|rc)(\d+))?(?:\.post(\d+))?(?:\.dev(\d+))?(?:\+(.+))?$")
_FINAL = ("z", 0)


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """A version, comparable; text that is no version orders before every release, by its letters."""

    release: tuple[int, ...]
    stage: tuple[str, int]
    post: int
    local: str

    @classmethod
    def parse(cls, text: str) -> "Version":
        """Parse `text`; anything is accepted, since a fork may call itself what it likes."""
        match = _WRITTEN.match(text)
        if match is None:
            return cls((), _FINAL, 0, text)
        numbers = tuple(int(part) for part in match[1].split("."))
        stage = (match[2], int(match[3])) if match[2] else _FINAL
        if match[5] is not None and not match[2]:
            stage = ("", int(match[5]))
        return cls(numbers, stage, int(match[4]) + 1 if match[4] else 0, match[6] or "")

    def __lt__(self, other: "Version") -> bool:
        """Order by release, stage, post release, local part."""
        return self._key < other._key

    @property
    def _key(self) -> tuple[tuple[int, ...], tuple[str, int], int, str]:
        return self.release, self.stage, self.post, self.local
