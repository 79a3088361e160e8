"""The optional prover: which conditions of a definition follow from the others, and which cannot be
satisfied.

It needs the extra `axon-shapes[prove]` (islpy and z3). They are loaded only in a separate process
(`worker.py`), whose memory and time are limited.
"""
