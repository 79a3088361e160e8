"""Exit statuses, a contract with scripts."""

FINE, HAS_ERRORS, WRONG_USAGE, BUG = 0, 1, 2, 3
