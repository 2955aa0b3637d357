#!/bin/sh
# Makes the shipment: from Hex's libraries or, with DYNO_DEPS_EWE, from checkouts in that folder.

otp=$(erl -noinput -eval 'io:put_chars(erlang:system_info(otp_release)), halt().')
if [ "$otp" -lt 27 ]; then
    echo "what Gleam makes needs Erlang/OTP 27, and the erl on the PATH is $otp: set GLEAM_OTP to the folder with a newer one" >&2
    exit 1
fi

if [ -n "$DYNO_DEPS_EWE" ]; then
    sed -i "/^\[dependencies\]/,\$ s|^\([a-z_]*\) = .*|\1 = { path = \"$DYNO_DEPS_EWE/\1\" }|" gleam.toml
else
    gleam deps download || {
        echo "cannot reach Hex: put checkouts of the libraries in gleam.toml into a folder and set DYNO_DEPS_EWE to it (README.md)" >&2
        exit 1
    }
fi
exec gleam export erlang-shipment
