# Its accept queue has room for one connection, and it takes its time before it accepts the next.
import socket, sys, threading, time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!"


def converse(peer):
    try:
        while peer.recv(4096):
            time.sleep(0.005)
            peer.sendall(ANSWER)
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1)
while True:
    peer, _ = listener.accept()
    threading.Thread(target=converse, args=(peer,), daemon=True).start()
    time.sleep(0.01)
