"""Signatures of operators that cannot be chosen while a rank, or the like, is not known."""

SAME_RANK = "t p -> t ?r where rank(?r) = rank(p)"
ANY_SHAPE = "t p -> t ?r"
PRODUCT = "(t p, t q) -> t ?r"
SLIDING = "(t p, t q) -> t ?r where rank(?r) = rank(p), rank(q) = rank(p)"
