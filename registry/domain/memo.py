"""A bounded memory for what never changes, or follows from its key alone."""

from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Memo(Generic[Key, Value]):
    """The most recently used values, up to a number of entries. For one event loop: not locked against threads."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._held: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """Return the value of `key` and mark it as used, or None."""
        value = self._held.get(key)
        if value is not None:
            self._held.move_to_end(key)
        return value

    def put(self, key: Key, value: Value) -> Value:
        """Hold `value`, letting go of the one longest unused; return `value`."""
        self._held[key] = value
        self._held.move_to_end(key)
        if len(self._held) > self._entries:
            self._held.popitem(last=False)
        return value

    def __len__(self) -> int:
        return len(self._held)
