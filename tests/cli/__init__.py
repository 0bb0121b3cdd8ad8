"""Tests of the command line: real processes, real pseudo-terminals."""
