"""The test suite. Real parts; seams are clock, ids, store, workspace and agent process."""
