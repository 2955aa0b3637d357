#!/bin/sh
# Starts nginx in the foreground, with its configuration filled in: it reads no environment.
#
#     start.sh ADDRESS:PORT WORKERS FOLDER

set -eu
sed "s/LISTEN/$1/; s/WORKERS/$2/" nginx.conf >"$3/nginx.conf"
PATH=$PATH:/usr/sbin
exec nginx -p "$3" -c "$3/nginx.conf" -e stderr
