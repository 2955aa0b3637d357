#!/bin/sh
# Asks what servers ask for each answer to WORKLOAD, by as many CONNECTIONS, for so many SECONDS, with no server but as
# its role. pgbench's transactions are the answers; its scripts have no loops.
set -eu
workload=$1
again() {
    for _ in $(seq "$1"); do cat "ceiling/$2.sql"; done
}
case $workload in
db-row | fortunes) again 1 "$workload" ;;
db-rows-*) again "${workload#db-rows-}" db-row ;;
db-update)
    echo 'BEGIN;'
    # In ascending order, so that no two transactions wait for each other.
    for least in 1 2001 4001 6001 8001; do
        echo "\\set least $least"
        again 1 db-update
    done
    echo 'COMMIT;'
    ;;
*)
    echo "ceiling.sh knows no queries of workload $workload" >&2
    exit 1
    ;;
esac >ceiling/answer.sql

threads=$(nproc)
[ "$threads" -le "$2" ] || threads=$2
export PGHOST=127.0.0.1 PGUSER=benchmarkdbuser PGPASSWORD="$SERVER_PASSWORD"
pgbench -n -M prepared -f ceiling/answer.sql -c "$2" -j "$threads" -T "$3" >ceiling/output
# Where it prints two rates, the last one is without the time in which it connected.
sed -n 's/^tps = \([0-9.]*\).*/answers_per_second=\1 pgbench/p' ceiling/output >ceiling/rates
[ -s ceiling/rates ] || {
    echo "pgbench had no answer within $3 s" >&2
    exit 1
}
tail -n 1 ceiling/rates
