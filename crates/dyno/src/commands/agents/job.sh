#!/bin/bash
# A job for Slurm, by `dyno agents slurm`: @NODES@ nodes load. The first node of the job is not among them; on it dyno
# itself runs, and the servers that it starts.
#
#   sbatch FILE
#
#SBATCH --job-name=dyno-@LAB@
#SBATCH --nodes=@ALL@
#SBATCH --ntasks-per-node=1
#SBATCH --time=@TIME@
#SBATCH --output=dyno-@LAB@-%j.out
#SBATCH --no-requeue
@DIRECTIVES@set -euo pipefail
[ -n "${SLURM_JOB_ID:-}" ] || { echo "this is a job: start it with sbatch" >&2; exit 2; }
cd "$SLURM_SUBMIT_DIR"
dyno=@DYNO@
