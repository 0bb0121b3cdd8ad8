"""Properties have no deadline: the machine that runs them may be busy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("channels", deadline=None)
settings.load_profile("channels")
