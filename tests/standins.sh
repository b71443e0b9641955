# For the install.sh of tests/systems and of tests/providers: what is pinned beside them goes into a folder; what is there
# already is left as it is. Sourced, with `here` (what is pinned) and `folder` (where to) set.

# A Python of 3.12: some libraries install on no other.
python() {
    local known
    for known in python3.13 python3.12 python3 "$HOME"/.pyenv/versions/3.1[23]*/bin/python; do
        if "$known" -c 'import sys; sys.exit(sys.version_info < (3, 12) or sys.version_info >= (3, 13))' 2>/dev/null; then
            echo "$known"
            return
        fi
    done
    echo "no Python 3.12 is here" >&2
    return 1
}

# Anew when what is pinned has changed.
fresh() { # FOLDER FILE…
    local stamp
    stamp=$(cat "${@:2}" | sha256sum)
    [ "$(cat "$1/.installed" 2>/dev/null)" = "$stamp" ] && return 1
    rm -rf "$1"
    mkdir -p "$1"
    echo "$stamp" >"$1.stamp"
}
installed() { mv "$1.stamp" "$1/.installed"; }

python_packages() {
    fresh "$folder/py" "$here/requirements.txt" || return 0
    "$(python)" -m venv "$folder/py"
    "$folder/py/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    installed "$folder/py"
}

node_packages() {
    fresh "$folder/node" "$here/package.json" "$here/package-lock.json" || return 0
    cp "$here/package.json" "$here/package-lock.json" "$folder/node/"
    (cd "$folder/node" && npm ci --silent --no-audit --no-fund)
    installed "$folder/node"
}
