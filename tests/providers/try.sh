#!/usr/bin/env bash
# Runs one stand-in by hand: starts it, makes its effects, tells its faults, and keeps it up until Enter (or the end of
# standard input). usage: try.sh FOLDER SCRIPT, as in: try.sh target/providers maildev.mjs
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "$1" && pwd)
export PROVIDERS_NODE=$folder/node
case $2 in
*.mjs) run=(node "$here/$2") ;;
*) run=("$folder/py/bin/python" "$here/$2") ;;
esac

ready=$(mktemp)
"${run[@]}" start --port 0 >"$ready" &
pid=$!
trap 'kill "$pid" 2>/dev/null || true; wait "$pid" || echo "ended with $?"; rm -f "$ready"' EXIT
until [ -s "$ready" ]; do
    kill -0 "$pid"
    sleep 0.1
done
cat "$ready"
url=$(sed 's/.*"url": *"\([^"]*\)".*/\1/' "$ready")
"${run[@]}" seed --url "$url"
"${run[@]}" faults --url "$url"
echo "$url stays until Enter"
read -r || true
