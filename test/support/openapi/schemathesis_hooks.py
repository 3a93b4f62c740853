"""How Schemathesis sends lines of JSON: as the text that they are."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")
