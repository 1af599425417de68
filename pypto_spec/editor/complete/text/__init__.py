"""The text around the cursor, read with whatever is missing or too much in it.

The loader's trees know nothing of a text that it refuses, and text that is being typed is refused most of the time.
These readers take every text. A mark (`CURSOR`) is put into it at the cursor first, which makes a token of an empty
place: what is being typed is then the scalar that holds the mark.
"""
