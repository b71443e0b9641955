#!/usr/bin/env bash
# Installs the stand-ins for providers that the scripts here run, at the versions that are pinned beside them, into a
# folder. What is there already is left as it is. usage: install.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
. "$here/../standins.sh"

python_packages
node_packages
