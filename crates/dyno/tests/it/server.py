# A server with a fault: python3 server.py PORT FAULT
import itertools, os, signal, socket, sys, threading, time

port, fault = int(sys.argv[1]), sys.argv[2]
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!"
numbers = itertools.count(1)
began = []


def die():
    print("first I was afraid", "I was petrified", sep="\n", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def tries():
    with open("tries", "a+") as file:
        file.write("x")
        file.flush()
        return os.path.getsize("tries")


def write_port():
    with open("port", "w") as file:
        file.write(str(port))


def converse(peer):
    while peer.recv(4096):
        asked = next(numbers)
        if fault == "dies" and asked == 100:
            die()
        if fault == "shares" and asked == 20:
            write_port()
            # The gate of the project, which is three folders above that of the builds.
            while not os.path.exists("../../../../go"):
                time.sleep(0.01)
        if asked == 10:
            began.append(time.monotonic())
        if fault == "loses" and began and 2 < time.monotonic() - began[0]:
            os.kill(child, signal.SIGKILL)
        lies = fault == "lies" and asked % 50 == 49 or fault == "unlike" and 20 < asked and asked % 20 == 0
        if fault == "counts":
            peer.sendall(ANSWER[:-4] + b"%04d" % (asked % 10_000))
            continue
        peer.sendall(ANSWER[:-1] + b"?" if lies else ANSWER)


def serve():
    backlog = 1 if fault == "slow-accept" else 128
    listener = socket.create_server(("127.0.0.1", port), backlog=backlog, reuse_port=fault == "shares")
    while True:
        if fault == "slow-accept":
            time.sleep(0.02)
        peer, _ = listener.accept()
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=converse, args=(peer,), daemon=True).start()


if fault == "dies-at-third" and tries() == 3:
    fault = "dies"
if fault == "stubborn":
    # It ignores SIGTERM, and serves from a session of its own, two forks away.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open("deaf", "w"):
        pass
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            serve()
        os._exit(0)
    while True:
        time.sleep(600)
if fault == "eats":
    # Not for ever: where memory cannot be limited, the machine itself must not run out of it.
    memory = [b"x" * (1 << 20) for _ in range(256)]
if fault == "loses":
    child = os.fork()
    if child == 0:
        while True:
            time.sleep(600)
if fault == "crowded" and tries() == 1:
    # Another server takes the port before this one does.
    write_port()
    while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
        time.sleep(0.01)
if fault == "elsewhere":
    write_port()
    time.sleep(600)
serve()
