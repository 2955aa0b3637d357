#!/bin/sh
# Makes the release: from Hex's libraries or, with DYNO_DEPS_BANDIT, from checkouts in that folder.

# Telemetry is built with rebar3: with the one on the PATH, for Mix would download its own.
MIX_REBAR3=$(command -v rebar3)
export MIX_REBAR3

if [ -z "$DYNO_DEPS_BANDIT" ]; then
    mix local.hex --force --if-missing && mix deps.get || {
        echo "cannot reach Hex: put checkouts of the libraries in mix.exs into a folder and set DYNO_DEPS_BANDIT to it (README.md)" >&2
        exit 1
    }
fi
exec mix release --overwrite
