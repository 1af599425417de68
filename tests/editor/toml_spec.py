"""A TOML spec with tables of all kinds."""

TABLES = """\
spec = "v1"
name = "tables"

[constants]
TR = 64
TC = "2 * TR"

[tensors]
x = { dtype = "fp32", shape = ["4 * TR", "TC"] }
out = { dtype = "fp32", shape = ["4 * TR", "TC"], access = "out" }

[[program]]
region = "tables"

[[program.body]]
for = { index = "i", count = 4 }
body = [
  { load = { into = "t", from = "x", at = ["i * TR", 0], shape = ["TR", "TC"] } },
  { let = '''y = exp(t)''' },
  { store = { from = "y", to = "out", at = ["i * TR", 0] } },
]

[golden.expect]
out = "exp(x)"
"""
