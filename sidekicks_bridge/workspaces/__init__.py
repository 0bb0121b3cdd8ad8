"""Where an agent works: one contract, local folders so far."""
