#!/bin/sh
# Starts nginx in the foreground, with its configuration filled in: it reads no environment.
#
#     start.sh ADDRESS:PORT WORKERS FOLDER [PROTOCOLS [CERTIFICATE KEY]]
#
# PROTOCOLS are the words of `listen`: ssl, http2 or both.

set -eu
sed "s/WORKERS/$2/; s|FILES|${FILES:-static}|" nginx.conf >"$3/nginx.conf"
cp modules.conf compression.conf "$3/"
echo "listen $1 ${4-};" >"$3/listen.conf"
if [ $# -gt 4 ]; then
    cat >>"$3/listen.conf" <<END
ssl_certificate $5;
ssl_certificate_key $6;
ssl_protocols TLSv1.2 TLSv1.3;
END
fi
PATH=$PATH:/usr/sbin
exec nginx -p "$3" -c "$3/nginx.conf" -e stderr
