"""Real rows of django-q2's ORM broker: a queue whose rows have only the end of a lease, and a table of ended tasks."""

import time

from django_setup import django_over, last_migration

import standin


class DjangoQ2(standin.System):
    LIBRARY = "django-q2"

    def __init__(self, db):
        super().__init__(db)
        # `retry` is the length of a lease (the fresh job's must outlast it), `ack_failures` ends a job at its first
        # failure: otherwise its row stays in the queue and is run again for ever.
        django_over(db, "django_q", Q_CLUSTER={
            "name": "shop", "orm": "default", "workers": 1, "retry": 660, "timeout": 650, "ack_failures": True,
            "scheduler": False})

    def install(self):
        from django.core.management import call_command

        call_command("migrate", verbosity=0)

    def add(self, job, lane):
        from django_q.models import OrmQ
        from django_q.tasks import async_task

        # The library's own time-out: the worker interrupts the body.
        limit = {"timeout": 1} if job == "timed_out" else {}
        task = async_task("standin.charge", job, q_options={"task_name": job, "cluster": lane, **limit})
        # The task's own id is only in the signed pickle.
        return next(row.pk for row in OrmQ.objects.order_by("-pk") if row.task_id() == task)

    def ended(self, job, key):
        """The row of the queue is deleted; the task gets one in another table, which knows nothing of the first."""
        from django_q.models import Task

        return Task.objects.get(name=job).id

    def work(self, lane, body):
        from django.utils import timezone
        from django_q.models import OrmQ

        body.time_out = lambda: time.sleep(30)
        standin.charge = body  # found by this name in the workers, which are forked
        waiting = OrmQ.objects.filter(lock__lte=timezone.now())
        for one in [lane] if lane else sorted(set(waiting.values_list("key", flat=True))):
            self.run_cluster(one, body)

    def run_cluster(self, lane, body):
        from django_q.brokers import get_broker
        from django_q.cluster import Cluster
        from django_q.models import OrmQ

        broker = get_broker(lane)
        if body.manner == "late":
            report(broker, body)
        cluster = Cluster(broker)
        cluster.start()
        while cluster.is_running and OrmQ.objects.filter(key=lane).exists():
            time.sleep(0.1)
        cluster.stop()

    def age(self, key):
        # The lease's end is the only time of a queue's row. Once it has passed, any worker of the same cluster name
        # takes the job again: the fresh job's has another name, so none does until `work`.
        two_hours_earlier = {"postgres": "lock - interval '2 hours'", "mysql": "`lock` - interval 2 hour",
                             "sqlite": "strftime('%Y-%m-%d %H:%M:%f', lock, '-2 hours') || '000'"}[self.db.kind]
        column = "`lock`" if self.db.kind == "mysql" else "lock"
        self.db.write_once(f"update django_q_ormq set {column} = {two_hours_earlier} where id = %s", key)

    def state(self, key):
        """In the queue, `locked` and `queued` as its broker counts them; else how the task ended."""
        from django.utils import timezone
        from django_q.models import OrmQ, Task

        row = OrmQ.objects.filter(pk=key).first() if key.isdigit() else None
        if row:
            return "locked" if row.lock > timezone.now() else "queued"
        job = self.db.one("select job from asked where job_key = %s", key)
        task = Task.objects.filter(name=job).first()
        return "gone" if task is None else "success" if task.success else "failure"

    def schema(self):
        return last_migration("django_q")


def report(broker, body):
    """The library deletes the row without a look at whether it was there, so this looks. (The result is saved before.)
    Its broker also hands tasks to a cluster whose only worker is busy: this one may take one task only."""
    acknowledge, dequeue, taken = broker.acknowledge, broker.dequeue, []

    def acknowledge_and_tell(key):
        was_there = broker.get_connection().filter(pk=key).exists()
        try:
            acknowledge(key)
        except Exception as error:
            body.told(False, error)
        body.told(was_there)

    def dequeue_once():
        if taken:
            return time.sleep(0.2)
        taken.extend(dequeue() or [])
        return taken

    broker.acknowledge, broker.dequeue = acknowledge_and_tell, dequeue_once


if __name__ == "__main__":
    standin.main(DjangoQ2)
