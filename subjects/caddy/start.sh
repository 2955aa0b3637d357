#!/bin/sh
# Starts Caddy in the foreground.
#
#     start.sh ADDRESS PORT [h2c | CERTIFICATE KEY]

set -eu
export ADDRESS="$1" PORT="$2" SCHEME=http
case $# in
3) export OPTIONS='servers {
    protocols h1 h2c
}' ;;
4) export SCHEME=https TLS="tls $3 $4" ;;
esac
exec caddy run --config Caddyfile
