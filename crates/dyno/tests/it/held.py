# Answers that never end, with a fault: python3 server.py PORT FAULT
# The readiness test and the check use the first connections and read two ticks each; the fault is for the later ones.
import os, signal, socket, sys, threading, time

port, fault = int(sys.argv[1]), sys.argv[2]
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHECKS = 2


def talk(peer, number):
    peer.recv(4096)
    peer.sendall(HEAD)
    for tick in range(1_000_000):
        peer.sendall(b"5\r\ntick\n\r\n")
        if fault == "mutes" and CHECKS < number and tick == 3:
            peer.recv(1)  # It sends nothing more, and waits for the client to close.
            return
        if fault == "ends" and CHECKS < number and tick == 3:
            peer.sendall(b"0\r\n\r\n")
            return
        time.sleep(0.1)


def serve(peer, number):
    try:
        talk(peer, number)
    except OSError:
        pass
    peer.close()


listener = socket.create_server(("127.0.0.1", port), backlog=128)
number = 0
while True:
    peer, _ = listener.accept()
    number += 1
    if fault == "dies" and CHECKS + 6 < number:
        print("no more of you", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "notes" and CHECKS + 6 < number:
        open("second-step", "w").close()
    threading.Thread(target=serve, args=(peer, number), daemon=True).start()
