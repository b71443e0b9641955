"""Real rows of Procrastinate: a status column, one row a job, a heartbeat in another table, no error column."""

from pathlib import Path

import procrastinate
from procrastinate.exceptions import ConnectorException

import standin


class Procrastinate(standin.System):
    LIBRARY = "procrastinate"

    def __init__(self, db):
        super().__init__(db)
        self.app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=db.url))

    def install(self):
        with self.app.open():
            self.app.schema_manager.apply_schema()

    def add(self, job, lane):
        with self.app.open():
            return self.app.configure_task("charge", queue=lane).defer(job=job)

    def work(self, lane, body):
        app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=self.db.url))
        app.task(name="charge")(body.__call__)
        if body.manner == "late":
            report(app.job_manager, body)
        # A dead worker's heartbeat row is deleted by any living worker after `stalled_worker_timeout`: a day here, so
        # that the aged rows stay as they were left. A late worker tells nothing: no heartbeat from it either.
        app.run_worker(queues=lane and [lane], wait=False, concurrency=1, stalled_worker_timeout=86400,
                       update_heartbeat_interval=3600 if body.manner == "late" else 10)

    def age(self, key):
        # When it started is in the events, whether its worker lives in the workers; the row itself has no time.
        self.db.run("update procrastinate_events set at = at - interval '2 hours' where job_id = %s", key)
        self.db.write_once("update procrastinate_workers set last_heartbeat = last_heartbeat - interval '2 hours'"
                           " where id = (select worker_id from procrastinate_jobs where id = %s)", key)

    def state(self, key):
        with self.app.open():
            rows = list(self.app.job_manager.list_jobs(id=int(key)))
        return rows[0].status if rows else "gone"

    def schema(self):
        return max(path.stem for path in Path(self.app.schema_manager.get_migrations_path()).glob("*.sql"))


def report(jobs, body):
    """Has the library's own acknowledge call tell what came of it."""
    finish = jobs.finish_job

    async def finish_and_tell(*args, **kwargs):
        try:
            await finish(*args, **kwargs)
        except ConnectorException as error:
            body.told(False, error.__cause__ or error)
        body.told(True)

    jobs.finish_job = finish_and_tell


standin.main(Procrastinate)
