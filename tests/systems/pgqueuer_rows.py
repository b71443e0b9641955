"""Real rows of PgQueuer: a status column, ended jobs moved from the queue to a log (held ones stay as `failed`)."""

import asyncio
import json
from datetime import timedelta

import psycopg
from pgqueuer import PgQueuer
from pgqueuer.db import PsycopgDriver
from pgqueuer.queries import Queries

import standin


class PgQueuerRows(standin.System):
    LIBRARY = "pgqueuer"

    def ask(self, question):
        """Runs one call of the library's own queries."""
        async def connected():
            async with await psycopg.AsyncConnection.connect(self.db.url, autocommit=True) as connection:
                return await question(Queries(PsycopgDriver(connection)))

        return asyncio.run(connected())

    def install(self):
        self.ask(lambda queries: queries.install())

    def add(self, job, lane):
        return self.ask(lambda queries: queries.enqueue(lane, json.dumps({"job": job}).encode()))[0]

    def ended(self, job, key):
        return None if job == "done" else key

    def work(self, lane, body):
        lanes = [lane] if lane else [row[0] for row in self.db.run("select distinct entrypoint from pgqueuer")]
        asyncio.run(self.work_over(lanes, body))

    async def work_over(self, lanes, body):
        async with await psycopg.AsyncConnection.connect(self.db.url, autocommit=True) as connection:
            queuer = PgQueuer(PsycopgDriver(connection))
            manager = queuer.qm
            if body.manner == "late":
                report(manager, body)

            async def charge(job):
                if body.manner == "late":
                    # No more dequeuing: it would take its own job again after a retry.
                    manager.shutdown.set()
                await asyncio.to_thread(body, json.loads(job.payload)["job"])

            async def stop_when_idle():
                # The library's drain mode waits for picked jobs too, whoever has them.
                while manager.job_context or await manager.queries.eligible_queued_work(lanes):
                    await asyncio.sleep(0.1)
                manager.shutdown.set()

            for lane in lanes:
                manager.entrypoint(lane, on_failure="hold")(charge)
            # A picked job whose heartbeat is older than this is taken again by any worker of its entrypoint, and a
            # worker's own heartbeats come at half of it. The fresh job has an entrypoint of its own, so its worker can
            # keep the usual 30 s; the others rescue nothing (and a late one sends no heartbeat) within a day.
            quiet = lanes != ["fresh"]
            await asyncio.gather(
                manager.run(heartbeat_timeout=timedelta(days=1) if quiet else timedelta(seconds=30)),
                stop_when_idle())

    def age(self, key):
        self.db.write_once("update pgqueuer set created = created - interval '2 hours',"
                           " updated = updated - interval '2 hours', heartbeat = heartbeat - interval '2 hours',"
                           " execute_after = execute_after - interval '2 hours' where id = %s", key)
        self.db.run("update pgqueuer_log set created = created - interval '2 hours' where job_id = %s", key)

    def state(self, key):
        """The queue's word, or the log's last one for what left the queue."""
        job = self.ask(lambda queries: queries.queue_job_by_id(int(key)))
        if job:
            return job.status
        logged = self.ask(lambda queries: queries.job_status([int(key)]))
        return logged[0][1] if logged else "gone"


def report(manager, body):
    """The library ends a job by one statement, deleting from the queue and inserting into the log; it does not look at
    how many rows that was, so this does."""
    driver, ending = manager.queries.driver, manager.queries.qbq.build_log_job_query()
    execute = driver.execute

    async def execute_and_tell(query, *args):
        try:
            status = await execute(query, *args)
        except psycopg.Error as error:
            if query == ending:
                body.told(False, error)
            raise
        if query == ending:
            body.told(status == "INSERT 0 1", None if status == "INSERT 0 1" else status)
        return status

    driver.execute = execute_and_tell


standin.main(PgQueuerRows)
