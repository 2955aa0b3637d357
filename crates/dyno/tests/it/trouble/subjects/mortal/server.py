# It answers two hundred requests, prints a message and dies.
import itertools, os, signal, socket, sys, threading

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!"
numbers = itertools.count(1)


def converse(peer):
    try:
        while peer.recv(4096):
            if next(numbers) == 200:
                print("out of luck", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGSEGV)
            peer.sendall(ANSWER)
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024)
while True:
    peer, _ = listener.accept()
    threading.Thread(target=converse, args=(peer,), daemon=True).start()
