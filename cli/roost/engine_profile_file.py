"""An engine profile in a file, as it is sent to a registry."""

from collections.abc import Mapping
from pathlib import Path

from roost.failures import Failure
from roost.inputs import document_fault_lines, unreadable


def read_profile(path: Path) -> Mapping[str, object]:
    """Read an engine profile and check its form; what it says is checked by the registry.

    Raises:
        Failure: it cannot be read, or is not an engine profile; with every fault.
    """
    from registry.documents.validation import validated  # noqa: PLC0415 - jsonschema, and only where a file is named
    from registry.domain.errors import Invalid  # noqa: PLC0415 - as above

    try:
        return validated("engine-profile", path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from None
    except Invalid as error:
        faults = getattr(error, "faults", ())
        document = {
            "type": "urn:roost:problem:invalid-document",
            "title": error.title,
            "status": 422,
            "detail": f"{path} is not an engine profile",
            "errors": [{"pointer": one.pointer, "message": one.message, "hint": one.hint} for one in faults],
        }
        message = f"{path} is not an engine profile"
        raise Failure(message, details=document_fault_lines(faults), document=document) from None
