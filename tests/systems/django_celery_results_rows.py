"""Real rows of django-celery-results: Celery's results in a table of Django's, with a time of the start."""

from celery_rows import CeleryRows
from django_setup import django_over, last_migration

import standin


class DjangoCeleryResults(CeleryRows):
    LIBRARY = "django-celery-results"

    def __init__(self, db):
        django_over(db, "django_celery_results")
        super().__init__(db, backend="django-db")

    def install(self):
        from django.core.management import call_command

        call_command("migrate", verbosity=0)

    def age(self, key):
        # All three times, as date_done is written at each save: it is the time of the start while the task runs.
        two_hours_earlier = {"postgres": "{0} - interval '2 hours'", "mysql": "{0} - interval 2 hour",
                             "sqlite": "strftime('%Y-%m-%d %H:%M:%f', {0}, '-2 hours') || '000'"}[self.db.kind]
        shifts = ", ".join(f"{column} = {two_hours_earlier.format(column)}"
                           for column in ("date_created", "date_started", "date_done"))
        self.db.write_once(f"update django_celery_results_taskresult set {shifts} where task_id = %s", key)

    def stored(self, key):
        return self.db.run("select * from django_celery_results_taskresult where task_id = %s", key)

    def schema(self):
        return last_migration("django_celery_results")


standin.main(DjangoCeleryResults)
