"""The optional prover: which conditions of a definition follow from the others, and which no
sizes meet.

It needs the extra `axon-shapes[prove]` (islpy and z3). They are only ever loaded in a process of
their own (`worker.py`), which has little memory and is ended when its time is up.
"""
