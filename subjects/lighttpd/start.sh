#!/bin/sh
# Starts lighttpd in the foreground.
#
#     start.sh ADDRESS PORT [CERTIFICATE KEY]

set -eu
export ADDRESS="$1" PORT="$2"
config=lighttpd.conf
if [ $# -gt 2 ]; then
    export CERTIFICATE="$3" KEY="$4"
    config=tls.conf
fi
PATH=$PATH:/usr/sbin
exec lighttpd -D -f $config
