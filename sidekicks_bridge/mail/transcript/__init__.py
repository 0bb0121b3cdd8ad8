"""The transcript: what was written by mail, as files in a git repository, projected from the log."""
