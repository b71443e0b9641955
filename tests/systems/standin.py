"""What every script here shares: the command line, the jobs' bodies, the workers as processes, the effects.

A script describes its library by a `System` and hands it to `main`.
"""

import argparse
import contextlib
import ctypes
import errno
import functools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from importlib import metadata
from urllib.parse import urlsplit

LONGEST = 600  # seconds that a waiting worker lives

AT = {"postgres": "timestamptz default now()", "mysql": "timestamp default current_timestamp",
      "sqlite": "text default current_timestamp"}


class ReadTimeout(Exception):
    """As `requests` words it: the usual text of an HTTP read that got no answer."""

    def __init__(self):
        super().__init__("HTTPConnectionPool(host='pay.example', port=443): Read timed out. (read timeout=30)")


ReadTimeout.__module__ = "requests.exceptions"


class Database:
    """Our own way into the database, beside the library's."""

    def __init__(self, url):
        self.url = url
        self.parts = urlsplit(url)
        self.kind = self.parts.scheme
        self.name = url.removeprefix("sqlite://") if self.kind == "sqlite" else self.parts.path[1:]
        if self.kind not in AT:
            raise SystemExit(f"not a database URL: {url}")

    @functools.cached_property
    def connection(self):
        if self.kind == "sqlite":
            return sqlite3.connect(self.name, isolation_level=None, timeout=10)
        if self.kind == "mysql":
            import pymysql

            return pymysql.connect(host=self.parts.hostname, port=self.parts.port, user=self.parts.username,
                                   password=self.parts.password or "", database=self.name, autocommit=True)
        import psycopg

        return psycopg.connect(self.url, autocommit=True)

    def run(self, sql, *values):
        """The rows of a query, or the number of rows that a statement wrote."""
        if self.kind == "sqlite":
            sql = sql.replace("%s", "?")
        cursor = self.connection.cursor()
        cursor.execute(sql, values)
        return cursor.fetchall() if cursor.description else cursor.rowcount

    def one(self, sql, *values):
        rows = self.run(sql, *values)
        return rows[0][0] if rows else None

    def write_once(self, sql, *values):
        rows = self.run(sql, *values)
        if rows != 1:
            raise RuntimeError(f"{rows} rows instead of 1: {sql}")

    def make_ours(self):
        number = "integer" if self.kind == "sqlite" else "serial"
        self.run(f"create table effects (id {number} primary key, job varchar(200) not null, at {AT[self.kind]})")
        # Which key a job got: its row may be deleted, or may not say which job it is.
        self.run(f"create table asked (id {number} primary key, job varchar(200) not null, job_key varchar(200))")

    def effects(self, job):
        return self.one("select count(*) from effects where job = %s", job)


class System:
    """One library over one database. The others of its methods:
    install()          the library's own installer
    add(job, lane)     enqueues a job, gives its key; `lane` is the library's queue (or whatever keeps workers apart)
    work(lane, body)   a real worker over one lane, or over all that waits when it is None; returns when idle
    age(key)           shifts what the database says of a running job back by two hours
    state(key)         the library's own word for the job's state, or "gone"
    """

    LIBRARY = None  # among Python's packages

    def __init__(self, db):
        self.db = db

    def ended(self, job, key):
        """The key of the row that there is of a job when it has ended, if there is one."""
        return key

    def schema(self):
        return "has no version of its own"


class Body:
    """What a job does when a worker runs it; `manner` says for which command the worker was started."""

    def __init__(self, url, manner, go=None):
        self.url, self.manner, self.go = url, manner, go

    def __call__(self, job):
        if self.manner == "work":
            say({"ran": job})
        if self.manner == "incident" and job == "before":
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        # A connection of its own: a worker runs bodies in threads and in forked processes.
        Database(self.url).run("insert into effects (job) values (%s)", job)
        if self.manner == "incident" and job == "timed_out":
            self.time_out()
        if self.manner == "incident" and job in ("stuck", "fresh"):
            time.sleep(LONGEST)
        if self.manner == "late":
            self.wait()

    def time_out(self):
        raise ReadTimeout()

    def wait(self):
        until = time.monotonic() + LONGEST
        while not os.path.exists(self.go):
            if time.monotonic() > until:
                os.killpg(0, signal.SIGKILL)
            time.sleep(0.05)

    def told(self, acknowledged, error=None):
        """A late worker has told the library; what came of it is left for the test. All its processes end here: it must
        not take another job."""
        line = json.dumps({"acknowledged": acknowledged, "error": error and str(error).splitlines()[0]})
        with open(self.go + ".part", "w", encoding="utf-8") as part:
            part.write(line + "\n")
        os.replace(self.go + ".part", self.go + ".done")
        os.killpg(0, signal.SIGKILL)


def die_with_parent():
    """So that killing a worker by its pid ends the processes that its library forked (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def say(line):
    # One write a line, past any redirection by a library: forked workers share the descriptor.
    os.write(1, (json.dumps(line) + "\n").encode())


def start(args, lane, manner, go=None):
    """A worker as a process (and a group) of its own, that outlives this script; its log goes to $STANDIN_LOG."""
    command = [sys.executable, sys.argv[0], "worker", "--db", args.db, "--lane", lane, "--manner", manner]
    with open(os.environ.get("STANDIN_LOG", os.devnull), "ab") as log:
        return subprocess.Popen(command + (["--go", go] if go else []), start_new_session=True,
                                stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def wait_for(worker, what, seconds=30):
    until = time.monotonic() + seconds
    while not what():
        if worker.poll() is not None:
            raise RuntimeError(f"a worker ended with {worker.returncode} before it acted; see STANDIN_LOG")
        if time.monotonic() > until:
            raise RuntimeError("a worker did not act in time; see STANDIN_LOG")
        time.sleep(0.05)


def start_and_wait(args, db, job, lane, manner, go=None):
    before = db.effects(job)
    worker = start(args, lane, manner, go)
    wait_for(worker, lambda: db.effects(job) > before)
    return worker


def add(db, system, job, lane):
    return asked(db, job, str(system.add(job, lane)))


def asked(db, job, key):
    db.run("insert into asked (job, job_key) values (%s, %s)", job, key)
    return key


def incident(args, db, system):
    keys = {job: add(db, system, job, "payments") for job in ("timed_out", "before", "done")}
    worker = start(args, "payments", "incident")
    if worker.wait(timeout=60) != 0:
        raise RuntimeError("the worker of the ended jobs failed; see STANDIN_LOG")
    for job, key in keys.items():
        keys[job] = system.ended(job, key)
        if keys[job] not in (key, None):
            asked(db, job, keys[job])

    keys["stuck"] = add(db, system, "stuck", "payments")
    worker = start_and_wait(args, db, "stuck", "payments", "incident")
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    system.age(keys["stuck"])

    keys["fresh"] = add(db, system, "fresh", "fresh")
    worker = start_and_wait(args, db, "fresh", "fresh", "incident")
    for job in ("stuck", "timed_out", "before", "done", "fresh"):
        line = {"case": job, "job": job, "key": keys[job]}
        say(line | {"pid": worker.pid} if job == "fresh" else line)


def late(args, db, system):
    key = add(db, system, args.job, args.job)
    worker = start_and_wait(args, db, args.job, args.job, "late", os.path.abspath(args.go))
    system.age(key)
    say({"key": key, "pid": worker.pid})


def state(args, db, system):
    known = db.run("select job_key, job from asked where %s in (job_key, job) order by id desc", args.key or args.job)
    if not known:
        raise RuntimeError(f"no such job was enqueued: {args.key or args.job}")
    key, job = known[0]
    say({"state": system.state(key), "effects": db.effects(job)})


def main(make):
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    add = {name: commands.add_parser(name) for name in
           ("install", "incident", "work", "state", "late", "facts", "worker")}
    for command in add.values():
        command.add_argument("--db", required=True)
    add["work"].add_argument("--seconds", type=float, required=True)
    add["state"].add_argument("key", nargs="?")
    add["state"].add_argument("--job")
    add["late"].add_argument("--job", required=True)
    add["late"].add_argument("--go", required=True)
    add["worker"].add_argument("--lane", required=True)
    add["worker"].add_argument("--manner", required=True)
    add["worker"].add_argument("--go")
    args = parser.parse_args()

    db = Database(args.db)
    system = make(db)
    try:
        if args.command == "install":
            system.install()
            db.make_ours()
        elif args.command == "facts":
            say({"library": system.LIBRARY, "version": metadata.version(system.LIBRARY), "schema": system.schema()})
        elif args.command == "work":
            # When the time is up, as if an operator stopped the worker at its terminal.
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
            signal.setitimer(signal.ITIMER_REAL, args.seconds)
            with contextlib.suppress(KeyboardInterrupt):
                system.work(None, Body(args.db, "work"))
        elif args.command == "worker":
            os.register_at_fork(after_in_child=die_with_parent)
            system.work(args.lane, Body(args.db, args.manner, args.go))
        else:
            {"incident": incident, "late": late, "state": state}[args.command](args, db, system)
    except Exception as error:  # the contract: one line that says what went wrong
        if "STANDIN_LOG" in os.environ:
            import traceback

            traceback.print_exc()
        sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())}")
