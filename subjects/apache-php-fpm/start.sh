#!/bin/sh
# Starts PHP-FPM and Apache, and ends both when it is asked to end or Apache ends.
#
#     start.sh ADDRESS:PORT FOLDER [h2c | CERTIFICATE KEY]

set -u
address=$1 FILES=$PWD WORK=$2
export FILES WORK
shift 2
case $# in
1) set -- -D H2C ;;
2) set -- -D TLS -C "Define CERTIFICATE $1" -C "Define KEY $2" ;;
esac

mkdir -m 1777 "$WORK/tmp"
fpm=$(ls /usr/sbin/php-fpm[0-9]* | head -n 1)
"$fpm" --nodaemonize --fpm-config fpm.conf &
fpm=$!
/usr/sbin/apache2 -d "$FILES" -f apache.conf -D FOREGROUND "$@" -C "DefaultRuntimeDir $WORK" \
    -c "Listen $address" -c "PidFile $WORK/apache.pid" -c "ErrorLog $WORK/error.log" &
apache=$!

trap 'kill "$fpm" "$apache" 2>/dev/null' TERM INT
# A signal ends the first wait; the second ones wait for what it ended.
wait "$apache"
kill "$fpm" "$apache" 2>/dev/null
wait "$apache" "$fpm"
