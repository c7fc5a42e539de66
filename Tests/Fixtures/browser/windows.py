"""Windows of a browser whose consoles are listened to."""


class Windows:
    """Opens windows, each with a storage of its own; none may report a problem but those that have one of the words.

    A test may add words for one window to its `tolerated`. A filter at the end of a test would miss what comes later.
    """

    def __init__(self, browser, *tolerated):
        self.browser, self.tolerated, self.opened = browser, tolerated, []

    def open(self, width=1100, height=900):
        """A fresh page; what is written to its console as an error, and every exception, is kept in `problems`."""
        context = self.browser.new_context(ignore_https_errors=True, viewport={"width": width, "height": height})
        window = context.new_page()
        self.opened.append((context, window))
        window.problems, window.tolerated = [], list(self.tolerated)
        window.on("pageerror", lambda error: window.problems.append(f"exception: {error}"))
        window.on("console", lambda line: window.problems.append(line.text) if line.type == "error" else None)
        return window

    def close(self):
        for context, _ in self.opened:
            context.close()
        problems = [problem for _, window in self.opened for problem in window.problems
                    if not any(word in problem for word in window.tolerated)]
        assert not problems, problems
