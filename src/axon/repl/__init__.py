"""`axon repl`: a session in which definitions and values are kept.

`interpreter` is the session: lines in, reports out, nothing of a terminal. `terminal` and `lines`
are the two ways to talk to it.
"""
