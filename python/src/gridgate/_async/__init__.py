"""The client for programs that wait with `await`; the blocking one is made from it (scripts/make_sync.py)."""
