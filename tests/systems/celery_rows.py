"""Real rows of Celery's SQLAlchemy result backend: a table of results, which is no queue and has no time of a start."""

import os
import threading
import time

from celery import Celery
from celery.signals import worker_ready
from celery.worker import state as worker_state

import standin


def sqlalchemy_url(db):
    if db.kind == "sqlite":
        return f"sqlite:///{os.path.abspath(db.name)}"
    driver = {"postgres": "postgresql+psycopg", "mysql": "mysql+pymysql"}[db.kind]
    return db.url.replace(db.kind, driver, 1)


class CeleryRows(standin.System):
    LIBRARY = "celery"

    def __init__(self, db, backend=None):
        super().__init__(db)
        # The broker is another set of tables in the same database, so that nothing else has to run.
        self.app = Celery("shop", broker=f"sqla+{sqlalchemy_url(db)}", backend=backend or f"db+{sqlalchemy_url(db)}")
        # STARTED is only stored, and the task's name, arguments and worker are only columns, where they are asked for.
        self.app.conf.update(task_track_started=True, result_extended=True, worker_enable_remote_control=False,
                             worker_hijack_root_logger=False, worker_redirect_stdouts=False)

    def install(self):
        self.app.backend  # its making makes the tables

    def add(self, job, lane):
        charge = self.task(standin.Body(self.db.url, "add"))
        # The library's own time-out: the worker interrupts the body.
        return charge.apply_async(kwargs={"job": job}, queue=lane, soft_time_limit=1 if job == "timed_out" else None).id

    def task(self, body):
        def charge(job):
            body(job)

        return self.app.task(charge, name="charge")

    def work(self, lane, body):
        waiting = ("select distinct q.name from kombu_queue q join kombu_message m on m.queue_id = q.id"
                   " where m.visible order by 1")
        lanes = [lane] if lane else [row[0] for row in self.db.run(waiting)]
        if not lanes:
            return
        body.time_out = lambda: time.sleep(30)
        self.task(body)
        if body.manner == "late":
            report(self, body)

        def stop_when_idle(**_):
            quiet = 0
            while quiet < 10:
                time.sleep(0.1)
                idle = not worker_state.reserved_requests and not self.ask_anew(waiting, lanes)
                quiet = quiet + 1 if idle else 0
            worker_state.should_stop = 0

        def ready(**_):
            threading.Thread(target=stop_when_idle, daemon=True).start()

        worker_ready.connect(ready)
        # Only a pool of processes can time a job out; one process is easier to kill, and to leave alone.
        self.app.Worker(pool="prefork" if lane == "payments" else "solo", concurrency=1, queues=lanes,
                        without_gossip=True, without_mingle=True, without_heartbeat=True, loglevel="INFO").start()

    def ask_anew(self, waiting, lanes):
        return any(row[0] in lanes for row in standin.Database(self.db.url).run(waiting))

    def age(self, key):
        """Nothing: a row that is STARTED has no time at all (date_done is null until the end)."""

    def stored(self, key):
        """What there is of a result, for comparing."""
        return self.db.run("select * from celery_taskmeta where task_id = %s", key)

    def state(self, key):
        """The library says PENDING of what it has never heard of."""
        return self.app.AsyncResult(key).state if self.stored(key) else "gone"


def report(system, body):
    """The library gives nothing back when it stores the end of a job, so this looks whether the row changed."""
    backend = system.app.backend
    mark = backend.mark_as_done

    def mark_and_tell(task_id, *args, **kwargs):
        before = system.stored(task_id)
        try:
            mark(task_id, *args, **kwargs)
        except Exception as error:
            body.told(False, error)
        body.told(system.stored(task_id) != before)

    backend.mark_as_done = mark_and_tell


if __name__ == "__main__":
    standin.main(CeleryRows)
