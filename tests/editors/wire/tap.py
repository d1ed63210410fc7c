"""Starts a server and writes down every message between it and its editor.

    usage: tap.py FOLDER SERVER [ARGUMENT]...

One file in FOLDER for each process, one JSON object a line: {"from": "client" or "server", "message": ...}. Bytes are handed on as they
are; a message is written down before it is handed on.
"""

import json
import os
import signal
import subprocess
import sys
import threading


def messages(stream):
    """The raw bytes and the body of each message; the body of the last one is None if the stream ends inside of it."""
    while True:
        head, length = b"", 0
        while True:
            line = stream.readline()
            if not line:
                return
            head += line
            if line in (b"\r\n", b"\n"):
                break
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = int(value)
        body = stream.read(length)
        yield head + body, body


def main():
    folder, *command = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    signal.signal(signal.SIGINT, lambda *_: server.terminate())
    written = threading.Lock()
    log = open(os.path.join(folder, f"{os.getpid()}.jsonl"), "a", encoding="utf-8")

    def note(side, body):
        with written:
            log.write(json.dumps({"from": side, "message": json.loads(body)}) + "\n")
            log.flush()

    def from_client():
        try:
            for raw, body in messages(sys.stdin.buffer):
                note("client", body)
                server.stdin.write(raw)
                server.stdin.flush()
            server.stdin.close()
        except (BrokenPipeError, ValueError):
            pass

    threading.Thread(target=from_client, daemon=True).start()
    try:
        for raw, body in messages(server.stdout):
            note("server", body)
            sys.stdout.buffer.write(raw)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        pass
    # Not the way of the interpreter, which would wait for the thread that reads.
    os._exit(server.wait())


if __name__ == "__main__":
    main()
