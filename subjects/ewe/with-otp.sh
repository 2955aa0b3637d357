#!/bin/sh
# Runs a command with the programs of GLEAM_OTP before those of the PATH.
PATH=${GLEAM_OTP:+$GLEAM_OTP:}$PATH
export PATH
exec "$@"
