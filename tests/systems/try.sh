#!/usr/bin/env bash
# The whole contract by hand for one system: what each command prints. See README.md.
# usage: try.sh PYTHON SYSTEM [DATABASE-URL]     e.g. try.sh target/standins/py/bin/python procrastinate_rows
# A database named standin_SYSTEM is made on the server of the URL (the one on this machine when left out), and dropped.
set -euo pipefail
python=$1 system=$2 url=${3:-postgres://postgres@127.0.0.1:5432/standin_$2}
here=$(dirname "$0") name=${url##*/}
server=${url%/*}
export STANDIN_LOG=${STANDIN_LOG:-$(mktemp)}
pids=() go=$(mktemp -u)

sql() { # STATEMENT: on the server, or nothing for SQLite
    case $url in
        postgres*) psql -q "$server/postgres" -c "$1" ;;
        mysql*) mariadb -h 127.0.0.1 -u root -e "$1" ;;
        sqlite*) rm -f "${url#sqlite://}" ;;
    esac
}
clean_up() {
    local pid
    for pid in "${pids[@]}"; do kill -9 -- "-$pid" 2>/dev/null || true; done
    rm -f "$go" "$go.done"
    sql "drop database if exists $name"
    [ -z "${failed-}" ] || tail -n 30 "$STANDIN_LOG"
}
trap 'failed=yes' ERR
trap clean_up EXIT
run() { # COMMAND…: shown with what it prints
    echo "\$ $system $*"
    "$python" "$here/$system.py" "$1" --db "$url" "${@:2}" 2>>"$STANDIN_LOG" | tee "$go.out"
    pids+=($(grep -o '"pid": [0-9]*' "$go.out" | grep -o '[0-9]*' || true))
    rm -f "$go.out"
}

sql "drop database if exists $name"
case $url in sqlite*) ;; *) sql "create database $name" ;; esac
run facts
run install
run incident
for job in stuck timed_out before done fresh; do run state --job $job; done
run work --seconds 5
for job in stuck timed_out before done fresh; do run state --job $job; done
run late --job late --go "$go"
run state --job late
touch "$go"
for _ in $(seq 100); do [ -e "$go.done" ] && break; sleep 0.1; done
cat "$go.done"
run state --job late
