"""langgraph-checkpoint-django on SQLite.

Django has one database for a process, and the kit opens several stores at once: each call goes to
the database with which its saver was opened. Transactions begin as Django's documentation advises
for SQLite: by default they read first, and then fail at once, "database is locked", where two
threads write.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_path


@on_path("django")
@contextlib.contextmanager
def django(path: str) -> "Iterator[Any]":
    import functools

    import django
    from asgiref.local import Local
    from django.conf import settings
    from django.db import connections

    database: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3"}
    database |= {"NAME": path + "/checkpoints.db", "OPTIONS": {"transaction_mode": "IMMEDIATE"}}
    if not settings.configured:
        installed = ["langgraph.checkpoint.django.checkpoint"]
        settings.configure(DATABASES={"default": database}, INSTALLED_APPS=installed)
        django.setup()
    from django.core.management import call_command
    from langgraph.checkpoint.django.saver import DjangoSaver

    own = Local(connections.thread_critical)

    def call(method: "Any", *given: "Any", **named: "Any") -> "Any":
        connections.databases["default"]["NAME"] = database["NAME"]
        connections._connections = own
        return method(*given, **named)

    call(call_command, "migrate", verbosity=0)
    saver = DjangoSaver()
    for name in ("get_tuple", "list", "put", "put_writes", "delete_thread"):
        setattr(saver, name, functools.partial(call, getattr(saver, name)))
    yield saver
    call(connections.close_all)
