"""How hard Hypothesis tries: `AXON_PROFILE=deep make test` for more, `quick` for a first look.

`max_examples` is for a cheap property; a slow one takes a share of it (`tests/budget.py`).
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

PROFILES = {"quick": 100, "ci": 2_000, "deep": 20_000}

for name, examples in PROFILES.items():
    settings.register_profile(
        name,
        max_examples=examples,
        derandomize=name != "deep",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
settings.load_profile(os.environ.get("AXON_PROFILE", "ci"))
