"""Real rows of Oban for Python: a status column, errors in the row, its workers' heartbeats in another table."""

import asyncio
import time
from datetime import timedelta

import psycopg
from oban import Oban, worker
from oban.schema import install

import standin


@worker(max_attempts=1)
class Charge:
    body = None

    def timeout(self, job):
        return 0.5 if self.body.manner == "incident" and job.args["job"] == "timed_out" else None

    async def process(self, job):
        if self.body.manner == "late":
            # The worker knows its job by the time it took it, and that is aged in the row.
            job.attempted_at -= timedelta(hours=2)
        await asyncio.to_thread(self.body, job.args["job"])


class ObanRows(standin.System):
    LIBRARY = "oban"

    def ask(self, question, **settings):
        """Runs one call of an Oban of its own; it is no worker unless it is given queues."""
        async def connected():
            pool = await Oban.create_pool(self.db.url, min_size=1, max_size=4)
            # No instance is ever the leader, so nothing is rescued, pruned or cleaned up among the aged rows.
            oban = Oban(pool=pool, leadership=False, shutdown_grace_period=None, **settings)
            try:
                return await question(oban, pool)
            finally:
                await pool.close()

        return asyncio.run(connected())

    def install(self):
        self.ask(lambda oban, pool: install(pool))

    def add(self, job, lane):
        return self.ask(lambda oban, pool: oban.enqueue(Charge.new({"job": job}, queue=lane))).id

    def work(self, lane, body):
        waiting = "select distinct queue from oban_jobs where state = 'available'"
        lanes = [lane] if lane else [row[0] for row in self.db.run(waiting)]
        if not lanes:
            return
        Charge.body = body
        body.time_out = lambda: time.sleep(2)  # longer than the worker allows

        async def until_idle(oban, pool):
            if body.manner == "late":
                report(oban, body)
            async with oban:
                uuids = [queue.uuid for queue in oban.check_all_queues()]
                while self.left(lanes, uuids):
                    await asyncio.sleep(0.1)

        # A late worker tells nothing: no heartbeat from it. The others refresh theirs each 15 s, as is usual.
        self.ask(until_idle, queues={lane: 1 for lane in lanes},
                 refresher={"interval": 3600 if body.manner == "late" else 15})

    def left(self, lanes, uuids):
        """How many jobs wait for, or are with, these workers."""
        return self.db.one("select count(*) from oban_jobs where (state = 'available' and queue = any(%s))"
                           " or (state = 'executing' and attempted_by[2] = any(%s))", lanes, uuids)

    def age(self, key):
        self.db.write_once("update oban_jobs set inserted_at = inserted_at - interval '2 hours',"
                           " scheduled_at = scheduled_at - interval '2 hours',"
                           " attempted_at = attempted_at - interval '2 hours' where id = %s", key)
        self.db.write_once("update oban_producers set started_at = started_at - interval '2 hours',"
                           " updated_at = updated_at - interval '2 hours'"
                           " where uuid::text = (select attempted_by[2] from oban_jobs where id = %s)", key)

    def state(self, key):
        job = self.ask(lambda oban, pool: oban.get_job(int(key)))
        return job.state if job else "gone"


def report(oban, body):
    """The library gives back the ids of the jobs that it could acknowledge."""
    ack = oban._query.ack_jobs

    async def ack_and_tell(acks):
        try:
            acknowledged = await ack(acks)
        except psycopg.Error as error:
            body.told(False, error)
        body.told(bool(acknowledged))

    oban._query.ack_jobs = ack_and_tell


standin.main(ObanRows)
