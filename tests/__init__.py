"""Tests; helpers are imported as `tests.<module>`."""
