"""The passes, one file each, named as PyPTO names them; `pipeline.py` lists them in order."""
