"""A Django with one app over a database of ours, for the libraries that live in Django."""

import django
from django.conf import settings


def django_over(db, app, **more):
    if db.kind == "sqlite":
        database = {"ENGINE": "django.db.backends.sqlite3", "NAME": db.name, "OPTIONS": {"timeout": 10}}
    else:
        database = {"NAME": db.name, "HOST": db.parts.hostname, "PORT": db.parts.port, "USER": db.parts.username,
                    "PASSWORD": db.parts.password or "", "ENGINE": "django.db.backends.postgresql"}
    if db.kind == "mysql":
        import pymysql

        # Django asks for mysqlclient, which has to be compiled; PyMySQL is the same to it under that name.
        pymysql.version_info = (2, 2, 8, "final", 0)
        pymysql.install_as_MySQLdb()
        database["ENGINE"] = "django.db.backends.mysql"
    settings.configure(DATABASES={"default": database}, INSTALLED_APPS=[app], USE_TZ=True, TIME_ZONE="UTC",
                       SECRET_KEY="for rows that nobody keeps", DEFAULT_AUTO_FIELD="django.db.models.AutoField", **more)
    django.setup()


def last_migration(app):
    from django.db.migrations.loader import MigrationLoader

    return max(name for of, name in MigrationLoader(None).disk_migrations if of == app)
