# Not tried: written and read with care, and never built.
#
#   docker build -t dyno .
#   docker run --rm --network host dyno load localhost:8080/
#
# It has dyno and no other server: `dyno run` compares in it what a further image adds. dyno measures best on the machine
# itself: a container's limits, and its network, take part in the figures.
FROM rust:1.88-bookworm AS build
WORKDIR /source
COPY . .
RUN make install install-nats DESTDIR=/installed PREFIX=/usr

FROM debian:bookworm-slim
COPY --from=build /installed/ /
RUN useradd --create-home --uid 1000 dyno
USER 1000
WORKDIR /home/dyno
ENTRYPOINT ["dyno"]
CMD ["--help"]
