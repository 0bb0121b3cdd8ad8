"""What a channel decides (pure) and what it holds (owned state)."""
