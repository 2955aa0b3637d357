#!/bin/sh
# Starts PHP-FPM and Apache, and ends both when it is asked to end or Apache ends.
#
#     start.sh ADDRESS:PORT FOLDER

set -u
FILES=$PWD WORK=$2
export FILES WORK

mkdir -m 1777 "$WORK/tmp"
fpm=$(ls /usr/sbin/php-fpm[0-9]* | head -n 1)
"$fpm" --nodaemonize --fpm-config fpm.conf &
fpm=$!
/usr/sbin/apache2 -d "$FILES" -f apache.conf -D FOREGROUND -C "DefaultRuntimeDir $WORK" \
    -c "Listen $1" -c "PidFile $WORK/apache.pid" -c "ErrorLog $WORK/error.log" &
apache=$!

trap 'kill "$fpm" "$apache" 2>/dev/null' TERM INT
# A signal ends the first wait; the second ones wait for what it ended.
wait "$apache"
kill "$fpm" "$apache" 2>/dev/null
wait "$apache" "$fpm"
