"""The pytest plugin. Everything but options is imported only when ``--saver`` is given."""
