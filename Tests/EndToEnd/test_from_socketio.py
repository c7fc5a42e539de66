"""The samples of docs/build/from-socketio.md work when they are copied."""

import json
import subprocess
import sys
import threading

from Fixtures.clients.tokens import SECRET, sign
from Fixtures.samples import sample

PAGE = "docs/build/from-socketio.md"
CONFIG = json.loads(sample(f"{PAGE}#1-move-the-connections:json"))


def test_a_client_moves_and_goes_on_after_a_cut(gateway, server):
    """It subscribed once only, and heard nothing any more after python-socketio had come back by itself."""
    app = gateway(server=server, config=CONFIG)
    text = sample(f"{PAGE}#1-move-the-connections:python").replace("https://127.0.0.1:8443", app.origin)
    text = text.replace("<jwt>", sign(SECRET, "ann"))
    with subprocess.Popen([sys.executable, "-u", "-c", text], stdout=subprocess.PIPE, text=True) as program:
        deadline = threading.Timer(20, program.kill)
        deadline.start()
        try:
            assert "'recovered': False" in program.stdout.readline()
            assert program.stdout.readline() == "heard hello\n"
            with app.http() as http:
                [session] = http.get("/v1/sessions").json()["sessions"]
                assert http.post(f"/v1/sessions/{session['id']}/close").status_code == 200
            app.publish("room:1", "message", {"text": "after the cut"})
            assert "'recovered': True" in program.stdout.readline()
            assert program.stdout.readline() == "heard after the cut\n"
        finally:
            deadline.cancel()
            program.kill()


def test_a_handler_becomes_a_script(gateway, tmp_path, token):
    """Its event names the caller, whatever the caller says."""
    (tmp_path / "say_in_room.lua").write_text(sample(f"{PAGE}#3-turn-handlers-into-commands:lua"))
    app = gateway("--scripts", str(tmp_path), config=CONFIG)
    with app.client(token=token("ann")) as client:
        client.subscribe("room:1")
        client.send("say_in_room", {"roomId": "1", "text": "hello"}, ref="one")
        heard = {message["event"]: message["data"] for message in (client.receive(), client.receive())}
        assert heard == {"ack": {"ok": True}, "message": {"roomId": "1", "from": "ann", "text": "hello"}}
        client.refused("say_in_room", {"roomId": "1", "userId": "bob", "text": "hello"}, "forbidden")
