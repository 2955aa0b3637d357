"""Stands between a coordinator and an agent: hands lines on, and does something when the agent says a certain word.

relay.py DYNO FOLDER WORD NTH DOES: `kill` or `stop` the agent, or `end` its coordinator, as soon as the agent has said the
word for the NTH time. The line is lost with it, but for a greeting. FOLDER gets a file with the agent's number.
"""

import os
import signal
import subprocess
import sys
import threading

dyno, folder, word, nth, does = sys.argv[1:]
flags = ["agents", "run", "--stdio", "--allow", "127.0.0.0/8:1-65535"]
agent = subprocess.Popen([dyno, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
with open(os.path.join(folder, f"{agent.pid}.agent.new"), "w") as note:
    note.write(str(os.getppid()))
os.rename(note.name, os.path.join(folder, f"{agent.pid}.agent"))


def hand_on():
    for line in iter(sys.stdin.buffer.readline, b""):
        try:
            agent.stdin.write(line)
            agent.stdin.flush()
        except OSError:
            break
    try:
        agent.stdin.close()
    except OSError:
        pass


threading.Thread(target=hand_on, daemon=True).start()
marker = f'"says":{{"{word}"'.encode()
left = int(nth)
for line in iter(agent.stdout.readline, b""):
    if marker in line:
        left -= 1
    if left == 0:
        left = -1
        if word == "hello":
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        if does == "kill":
            agent.kill()
        elif does == "stop":
            agent.send_signal(signal.SIGSTOP)
        elif does == "end":
            os.kill(os.getppid(), signal.SIGKILL)
        continue
    try:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    except OSError:
        break
sys.stdout.buffer.flush()
agent.wait()
# The other thread may still wait for a line.
os._exit(255)
