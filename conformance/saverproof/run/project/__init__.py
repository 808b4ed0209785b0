"""What a project says of the savers that it has judged: ``[tool.saverproof]`` in pyproject.toml."""
