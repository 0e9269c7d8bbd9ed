"""Errors: the job could not be done. Findings are values and live in a verdict; the two never share a type.

    RegistryError
    ├── NotFound
    ├── Conflict
    ├── Refused
    ├── Invalid
    ├── IntegrityMismatch
    └── Unavailable

The first line of a class's docstring is its default message. Each surface has one table from these classes to its own
language: HTTP status and problem document, exit code. Fields are structured so that nobody parses a message.
"""

import inspect


class RegistryError(Exception):
    """The registry could not do what was asked.

    Attributes:
        detail: what is wrong, where, and what was expected, in one or two sentences.
        hint: what to do about it; empty where nothing is known.
        pointer: JSON Pointer to the place in the document that was sent; None where there is none.
    """

    def __init__(self, detail: str = "", *, hint: str = "", pointer: str | None = None) -> None:
        self.detail = detail or self.title
        self.hint = hint
        self.pointer = pointer
        super().__init__(self.detail)

    @property
    def title(self) -> str:
        """The same for every error of this class: the first line of its docstring, without the period."""
        return (inspect.getdoc(type(self)) or type(self).__name__).splitlines()[0].rstrip(".")

    def __str__(self) -> str:
        return f"{self.detail} {self.hint}".rstrip()


class NotFound(RegistryError):
    """There is no such record."""


class Conflict(RegistryError):
    """A record of that identity exists with other facts."""


class Refused(RegistryError):
    """The request is understood and not allowed."""


class Invalid(RegistryError):
    """What was sent is not what it must be."""


class IntegrityMismatch(RegistryError):
    """The bytes are not the bytes that were announced."""


class Unavailable(RegistryError):
    """Something that is needed does not answer."""
