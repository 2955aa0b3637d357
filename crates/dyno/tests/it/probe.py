# A probe of a made-up runtime: as sitecustomize.py it is imported before the server runs.
import os, socket, threading, time


def send(path):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path)
    while True:
        peer.sendall(b"jvm.heap.used_bytes=5000000\n")
        time.sleep(0.05)


if "DYNO_PROBE_SOCKET" in os.environ:
    threading.Thread(target=send, args=[os.environ["DYNO_PROBE_SOCKET"]], daemon=True).start()
