"""The commands of README.md for stand-ins of Python.

A stand-in's script describes it by a `StandIn` and hands it to `main`.
"""

import argparse
import json
import os
import signal
import socket
import sys
import urllib.error
import urllib.request
from importlib import metadata
from types import SimpleNamespace
from urllib.parse import urlencode

LONGEST = 600  # seconds that a stand-in runs if nobody stops it


class StandIn:
    """One stand-in. The others of its methods:
    serve(port, ready)  runs it in the foreground on 127.0.0.1; calls ready(port) when it takes requests
    seed(api)           makes the effects by its own API, and yields a case for each reference
    faults(api)         makes it misbehave, or says how to ask it amiss; yields a `fault` for each
    """

    PACKAGE = None  # among Python's packages
    TOKEN = None  # the secret with which it may be asked, if it wants one
    AUTHORIZATION = None  # the header that carries it


class Api:
    """Requests to a running stand-in."""

    def __init__(self, url, headers):
        self.url, self.headers = url.rstrip("/"), headers

    def call(self, method, path, form=None, body=None, headers=None):
        """The answer, whatever its status is: status, headers and the JSON (or None)."""
        given = dict(self.headers) | (headers or {})
        if form is not None:
            body, given["Content-Type"] = urlencode(form).encode(), "application/x-www-form-urlencoded"
        elif isinstance(body, dict):
            body, given["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(self.url + path, data=body, headers=given, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return read(answer)
        except urllib.error.HTTPError as answer:
            return read(answer)

    def made(self, path, wanted=(200, 201), **what):
        """What a POST made; anything but the status that is wanted ends the script."""
        answer = self.call("POST", path, **what)
        if answer.status not in wanted:
            raise RuntimeError(f"POST {path} answered {answer.status} instead of {wanted}: {answer.json}")
        return answer.json


def read(answer):
    try:
        content = json.loads(answer.read() or b"null")
    except ValueError:
        content = None
    return SimpleNamespace(status=answer.status, headers=answer.headers, json=content)


def case(operation, reference, expect, ids, why, money=None):
    """What a look-up of one reference must come to. `money` is what the job meant: decimal text and currency."""
    effects = {"happened": 1, "mismatch": 1, "duplicated": len(ids)}.get(expect, 0)
    line = {"operation": operation, "reference": reference, "expect": expect, "effects": effects, "ids": ids}
    return line | ({"amount": money[0], "currency": money[1]} if money else {}) | {"why": why}


def fault(operation, reference, name, why, ask=None):
    """A look-up that must come to `unknown`. `ask` is what to ask with instead: a path or a token."""
    line = {"operation": operation, "reference": reference, "expect": "unknown", "fault": name}
    return line | ({"ask": ask} if ask else {}) | {"why": why}


def listen(port):
    return socket.create_server(("127.0.0.1", port))


def say(line):
    print(json.dumps(line, ensure_ascii=False), flush=True)


def main(stand_in):
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("start").add_argument("--port", type=int, default=0)
    for name in ("seed", "faults"):
        commands.add_parser(name).add_argument("--url", required=True)
    args = parser.parse_args()
    try:
        if args.command == "start":
            start(stand_in, args.port)
        else:
            headers = {"Authorization": stand_in.AUTHORIZATION} if stand_in.AUTHORIZATION else {}
            for line in getattr(stand_in, args.command)(Api(args.url, headers)):
                say(line)
    except Exception as error:  # the contract: one line that says what went wrong
        sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())}")


def start(stand_in, port):
    for ending in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(ending, lambda *_: sys.exit(0))
    signal.alarm(LONGEST)
    version = f"{stand_in.PACKAGE} {metadata.version(stand_in.PACKAGE)}"
    stand_in.serve(port, lambda port: say(
        {"url": f"http://127.0.0.1:{port}", "token": stand_in.TOKEN, "stand_in": version, "pid": os.getpid()}))
