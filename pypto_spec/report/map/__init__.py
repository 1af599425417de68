"""The memory map: who lives where on chip, and when.

`build.py` computes it, `model.py` says what it consists of, `document.py` makes JSON of it, `page.py` an HTML page and
`svg.py` a drawing.
"""
