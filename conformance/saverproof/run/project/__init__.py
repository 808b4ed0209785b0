"""The table ``[tool.saverproof]`` in pyproject.toml, in which a project says which savers to
judge.
"""
