"""Reading a text that is not finished: the smallest repairs that let the rest of it be read.

A repair puts blanks in the place of what breaks the syntax, or closes what was left open. The tree is that of the
repaired text with the offsets of the author's own.
"""
