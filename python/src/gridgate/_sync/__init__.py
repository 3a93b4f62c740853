"""The blocking client, made from the other one by scripts/make_sync.py; only `_runtime.py` is written by hand."""
