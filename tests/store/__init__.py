"""The store: one contract on disk and in memory, its search, its files, and what a kill leaves."""
