#!/bin/sh
# JMeter as Maven brings it: its jars, and its properties under bin/.
exec java -Xms256m -Xmx1g -Djmeter.home={home} -Dlog4j2.configurationFile={home}/bin/log4j2.xml \
    -cp '{home}/lib/*' org.apache.jmeter.NewDriver "$@"
