#!/bin/sh
# Starts HAProxy in the foreground. It wants certificate and key in one file.
#
#     start.sh ADDRESS:PORT FOLDER [CERTIFICATE KEY]

set -eu
export LISTEN="$1"
if [ $# -gt 2 ]; then
    export PAIR="$2/pair.pem"
    cat "$3" "$4" >"$PAIR"
fi
PATH=$PATH:/usr/sbin
exec haproxy -db -f haproxy.cfg
