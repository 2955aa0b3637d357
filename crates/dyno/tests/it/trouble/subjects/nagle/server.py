# Head and body in two writes, with Nagle's algorithm on: the body waits for a delayed acknowledgement.
import socket, sys, threading

HEAD, BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n", b"Hello, world!"


def converse(peer):
    try:
        while peer.recv(4096):
            peer.send(HEAD)
            peer.send(BODY)
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024)
while True:
    peer, _ = listener.accept()
    threading.Thread(target=converse, args=(peer,), daemon=True).start()
