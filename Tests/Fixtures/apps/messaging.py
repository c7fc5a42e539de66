"""The messaging app of one user, as tests play it."""

from Fixtures.clients.native import WAIT_SECONDS, Client


class Phone(Client):
    """A device that notes who is online, and hears everything else in order."""

    def __init__(self, gateway, token):
        host, port = gateway.address()
        self.online = {}
        self.states = {}
        super().__init__(f"wss://{host}:{port}/ws", gateway.certificate.trusting_context(), token=token)

    def receive(self, timeout=WAIT_SECONDS):
        while (message := super().receive(timeout))["event"] == "presence:changed":
            self.online[message["data"]["userId"]] = message["data"]
        return message


class App:
    """One user's app: requests with the user's token, and sockets on its devices."""

    def __init__(self, gateway, token, user):
        self.gateway, self.user, self.token = gateway, user, token(user)
        self.http = gateway.http(key=None)
        self.http.headers["Authorization"] = f"Bearer {self.token}"
        self.devices = []

    def ask(self, method, path, status=200, **body):
        """A request as the app makes it; its answer, which must have this status."""
        answer = self.http.request(method, path, json=body or None)
        assert answer.status_code == status, answer.text
        return answer.json()

    def send(self, conversation, id, text="hello", status=201):
        return self.ask("POST", f"/v1/conversations/{conversation}/messages", status, id=id, text=text)

    def logged(self, topic):
        return self.ask("GET", f"/v1/topics/{topic}/events?limit=100")["events"]

    def counts(self):
        listed = self.ask("GET", f"/v1/users/{self.user}/conversations")["conversations"]
        return [(item["unread"], item["lastMessage"]) for item in listed]

    def page(self, conversation, query=""):
        return self.ask("GET", f"/v1/conversations/{conversation}/messages{query}")

    def device(self, *topics):
        """A device that has joined these topics; its states by topic."""
        one = Phone(self.gateway, self.token)
        self.devices.append(one)
        one.states = {topic: one.subscribe(topic).get("state") for topic in topics}
        return one

    def close(self):
        self.http.close()
        for device in self.devices:
            device.close()
