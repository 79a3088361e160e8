"""The language server: input and output around `axon.editor`, on the standard library alone.

Two processes. One (`server.py`) reads the client's messages and answers whatever is wrong with
them; it never does any work, so it always answers. The other (`worker.py`) has the workspace. If a
piece of work takes too long, or too much memory, it is ended: its requests are answered with an
error, a new worker is told the open texts, and the one that was too hard is left alone until it is
edited.
"""
