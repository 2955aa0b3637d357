#!/bin/sh
# Starts H2O in the foreground, with its configuration completed: it reads no environment.
#
#     start.sh ADDRESS PORT THREADS FOLDER [CERTIFICATE KEY]

set -eu
{
    sed "s|FILES|${FILES:-static}|" h2o.conf
    printf '\nnum-threads: %s\nlisten:\n  host: %s\n  port: %s\n' "$3" "$1" "$2"
    [ $# = 4 ] || printf '  ssl:\n    certificate-file: %s\n    key-file: %s\n    ocsp-update-interval: 0\n' "$5" "$6"
} >"$4/h2o.conf"
exec h2o -c "$4/h2o.conf"
