#!/bin/sh
# Starts Apache in the foreground.
#
#     start.sh ADDRESS:PORT FOLDER [CERTIFICATE KEY]

set -eu
address=$1 work=$2
shift 2
[ $# = 0 ] || set -- -D TLS -C "Define CERTIFICATE $1" -C "Define KEY $2"

mkdir -m 1777 "$work/tmp"
exec /usr/sbin/apache2 -d "$PWD" -f apache.conf -D FOREGROUND "$@" \
    -C "Define FILES $PWD" -C "DefaultRuntimeDir $work" -c "Listen $address" -c "PidFile $work/apache.pid" \
    -c "ErrorLog $work/error.log" -c "php_admin_value sys_temp_dir $work/tmp"
