#!/bin/sh
# Makes the template: a cluster in `data` with TechEmpower's tables, which are empty, and a plain role for the server.
set -eu

initdb -D data -U dyno -E UTF8 --locale=C.UTF-8 -A trust --no-sync --no-instructions

# By the socket, which lies in a folder that nobody else may enter, as anyone; by TCP the server alone, with its password.
cat >data/pg_hba.conf <<HBA
local all all trust
host hello_world benchmarkdbuser 127.0.0.1/32 scram-sha-256
HBA

# Those settings that this version knows.
postgres --describe-config | cut -f 1 | sort >known.txt
: >data/settings.conf
grep -v '^#' settings.conf | while read -r name value; do
    case $name in
    *.*) ;; # of an extension
    *) grep -qx "$name" known.txt || continue ;;
    esac
    echo "$name = $value" >>data/settings.conf
done
echo "include = 'settings.conf'" >>data/postgresql.conf

pg_ctl -D data -s -w -l log.txt -o "-k '$PWD' -h ''" start || {
    cat log.txt >&2
    exit 1
}
trap 'pg_ctl -D data -s -m immediate stop' EXIT
psql -h "$PWD" -U dyno -d postgres -X -q -v ON_ERROR_STOP=1 -c 'CREATE DATABASE hello_world'
psql -h "$PWD" -U dyno -d hello_world -X -q -v ON_ERROR_STOP=1 -f schema.sql
# Each trial copies the cluster, of which each database is 300 files; nobody asks those that `initdb` makes.
psql -h "$PWD" -U dyno -d hello_world -X -q -v ON_ERROR_STOP=1 <<SQL
ALTER DATABASE template0 IS_TEMPLATE false;
ALTER DATABASE template1 IS_TEMPLATE false;
DROP DATABASE template0;
DROP DATABASE template1;
DROP DATABASE postgres;
SQL
pg_ctl -D data -s -m fast stop
trap - EXIT
rm -f log.txt known.txt
