"""Real agents through the real bridge: they are installed here, given a scripted model, and every check is told."""
