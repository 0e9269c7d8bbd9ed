"""The one contract at every boundary: bytes, checked against `schemas/`, to domain records, and back to bytes.

One module per kind of document, each with `parse` and `render`. Nothing here does I/O but reading the schemas.
Importing this package never imports jsonschema; the first validation does.
"""
