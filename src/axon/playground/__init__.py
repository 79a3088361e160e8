"""The playground: a page with an editor and the checker behind it.

`answers.py` is what the page asks, as plain data: pure Python, so that it runs in a browser too.
`worker.py` serves it to a process, `server.py` to a browser on this machine. The page itself is
made from the folder `playground/` of the repository, into `built/` beside this file.
"""
