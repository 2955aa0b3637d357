# So many agents meet at a broker, which lives as long as this job. Frames are signed, and not encrypted.
dyno_nats=@DYNO_NATS@
here=$SLURMD_NODENAME
others=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | grep -vxF -- "$here" | paste -sd, -)
address=$(getent ahostsv4 "$here" | awk 'NR == 1 { print $1 }')
[ -n "$address" ] || { echo "$here has no address" >&2; exit 2; }
port=$((20000 + SLURM_JOB_ID % 10000))
# The keys: on a file system that all nodes have, for this user alone, and for this job only.
umask 077
work=$(mktemp -d "$PWD/.dyno-$SLURM_JOB_ID.XXXXXX")
broker='' agents=''
end() {
    [ -z "$agents" ] || kill "$agents" 2>/dev/null || true
    [ -z "$broker" ] || kill "$broker" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap end EXIT
for name in coordinator $(seq -f 'load-%.0f' 0 @LAST@); do
    "$dyno_nats" key "$work/$name"
done >"$work/agents.keys"
trust=$(sed -n 's/^coordinator //p' "$work/agents.keys")
"$dyno" agents nats --lab @LAB@ --keys "$work/agents.keys" --listen "0.0.0.0:$port" --without-tls >"$work/nats.conf"
nats-server -c "$work/nats.conf" 2>"$work/nats.log" &
broker=$!
srun --overlap --nodes=@NODES@ --ntasks=@NODES@ --ntasks-per-node=1 --nodelist="$others" --cpu-bind=none --unbuffered \
    --kill-on-bad-exit=0 --wait=0 bash -c 'exec "$@" --name "load-$SLURM_PROCID" --key-file "$0/load-$SLURM_PROCID"' \
    "$work" "$dyno" agents run --via "nats://$address:$port" --lab @LAB@ --trust "$trust" --wait 60 @ALLOW@ &
agents=$!
"$dyno" @COMMAND@ --load-on "@LOAD_ON@"
