"""Answers what Python's re.match makes of each [pattern, text]: the named groups, null,
"error", or "unassigned" for characters that this Python does not know yet."""

import json
import re
import sys
import unicodedata
import warnings

warnings.simplefilter("ignore")


def answer(pattern, text):
    if any(unicodedata.category(char) == "Cn" for char in text):
        return "unassigned"
    try:
        found = re.compile(pattern).match(text)
    except (re.error, OverflowError, ValueError):
        return "error"
    return found.groupdict() if found else None


json.dump([answer(*case) for case in json.load(sys.stdin)], sys.stdout)
