"""langgraph-checkpoint-django on SQLite: one database at a time, which is what Django has."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_path


@on_path("django")
@contextlib.contextmanager
def django(path: str) -> "Iterator[Any]":
    import django
    from django.conf import settings
    from django.db import connections

    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": path + "/checkpoints.db"}
    if not settings.configured:
        installed = ["langgraph.checkpoint.django.checkpoint"]
        settings.configure(DATABASES={"default": database}, INSTALLED_APPS=installed)
        django.setup()
    from django.core.management import call_command
    from langgraph.checkpoint.django.saver import DjangoSaver

    connections.databases["default"]["NAME"] = database["NAME"]
    connections.close_all()
    call_command("migrate", verbosity=0)
    yield DjangoSaver()
    connections.close_all()
