"""Golden tests: the rendered C++ itself runs on the host model and is compared with torch.

The only part of the package that needs torch (the extra `golden`).
"""
