"""The two agents that ship: scout and scribe."""
