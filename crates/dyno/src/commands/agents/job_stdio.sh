# dyno starts its agents itself, a step on each of the other nodes, and talks to them by the step's pipes.
"$dyno" @COMMAND@ --load-on slurm
