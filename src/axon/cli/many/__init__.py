"""Many models at once: `axon infer FOLDER`. Each is inferred in a process of its own, which a time
and a memory limit end; a broken or endless one does not stop the others.
"""
