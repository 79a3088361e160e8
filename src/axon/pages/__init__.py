"""Pictures and pages: a typed graph as boxes and edges, as SVG, DOT, text, or one HTML page.

A `Picture` is made from a program (`program.py`, from its syntax and the types of its expressions)
or from an imported model (`model.py`). `layout.py` gives it positions; `svg.py`, `dot.py`,
`outline.py` and `page.py` write it. Nothing here needs a library.
"""
