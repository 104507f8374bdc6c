#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# browser.py - the page of `nlock report' in a real browser, by check_browser.sh
#
#   browser.py BROWSER PAGE DIR    looks at PAGE at two widths, on light and on dark paper, leaves screenshots and a PDF in DIR,
#                                  prints a line for each look, and ends with 1 if anything was wrong
#
# It speaks the DevTools protocol through the browser's pipe: messages in JSON, a zero byte after each. Nothing but the standard
# library is needed.
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MEASURE = """(() => {
  const wrong = [], wide = document.documentElement.scrollWidth, room = document.documentElement.clientWidth;
  if (wide > room) wrong.push(`the page is ${wide} wide, of ${room}`);
  const pictures = [...document.querySelectorAll('svg')];
  for (const svg of pictures) {
    const frame = svg.getBoundingClientRect(), id = svg.parentNode.id;
    const names = (svg.getAttribute('aria-labelledby') || '').split(' ').map(n => document.getElementById(n));
    if (svg.getAttribute('role') !== 'img') wrong.push(`${id} has no role`);
    if (names.length !== 2 || !names.every(n => n && n.textContent.trim())) wrong.push(`${id} has no title or no text`);
    if (frame.width < 250 || frame.height < 100) wrong.push(`${id} is ${frame.width} x ${frame.height}`);
    for (const t of svg.querySelectorAll('text, rect, path')) {
      const b = t.getBoundingClientRect();
      if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1)
        wrong.push(`${id}: ${t.textContent || t.tagName} sticks out`);
      if (t.tagName === 'text' && b.height < 8) wrong.push(`${id}: ${t.textContent} is ${b.height} high`);
    }
  }
  for (const e of document.querySelectorAll('p, li, figure, dl, h1, h2, h3'))
    if (e.getBoundingClientRect().right > room + 1 && !e.closest('.wide')) wrong.push(`${e.tagName} is cut off: ${e.textContent.slice(0, 40)}`);
  const box = getComputedStyle(document.body);
  return {wrong: wrong, pictures: pictures.length, paper: box.backgroundColor, ink: box.color, height: document.documentElement.scrollHeight};
})()"""


class Browser:
    def __init__(self, path, profile):
        ours, theirs = os.pipe(), os.pipe()

        def become():
            # The browser reads commands on 3 and writes answers on 4. The copies are out of their way first.
            a, b = os.dup(theirs[0]), os.dup(ours[1])
            high_a, high_b = max(a, b) + 10, max(a, b) + 11
            os.dup2(a, high_a)
            os.dup2(b, high_b)
            os.dup2(high_a, 3)
            os.dup2(high_b, 4)

        self.process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe",
             "--user-data-dir=" + profile, "about:blank"],
            preexec_fn=become, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs[0])
        os.close(ours[1])
        self.answers, self.commands = os.fdopen(ours[0], "rb", buffering=0), os.fdopen(theirs[1], "wb", buffering=0)
        self.rest, self.number, self.session, self.events = b"", 0, None, []

    def read(self):
        while b"\0" not in self.rest:
            more = self.answers.read(65536)
            if not more:
                sys.exit("the browser went away")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.read())

    def open_tab(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.ask(domain + ".enable")


def complaints(events):
    for e in events:
        method, params = e.get("method"), e.get("params", {})
        if method == "Log.entryAdded":
            yield "the browser says: " + params["entry"]["text"]
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            yield "something ran: " + json.dumps(params)[:200]
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:")):
            yield "it asked for " + params["request"]["url"]


def look(browser, page, directory, width, scheme):
    browser.events = []
    browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.ask("Page.navigate", url=page.as_uri())
    browser.wait_for("Page.loadEventFired")
    found = browser.ask("Runtime.evaluate", expression=MEASURE, returnByValue=True)["result"]["value"]
    shot = browser.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                       clip={"x": 0, "y": 0, "width": width, "height": found["height"], "scale": 1})
    (directory / ("%d-%s.png" % (width, scheme))).write_bytes(base64.b64decode(shot["data"]))
    return found, found["wrong"] + list(complaints(browser.events))


def main():
    path, page, directory = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
    bad, papers = 0, {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(path, profile)
        browser.open_tab()
        for width in 360, 1280:
            for scheme in "light", "dark":
                found, wrong = look(browser, page, directory, width, scheme)
                papers[scheme] = found["paper"], found["ink"]
                print("%4d %-5s %d pictures%s" % (width, scheme, found["pictures"], "".join("\n  " + w for w in wrong)))
                bad += len(wrong) + (found["pictures"] == 0)
        if papers["light"] == papers["dark"]:
            print("light and dark look alike: %s" % (papers["light"],))
            bad += 1
        pdf = base64.b64decode(browser.ask("Page.printToPDF", printBackground=False)["data"])
        (directory / "page.pdf").write_bytes(pdf)
        print("printed: %d bytes" % len(pdf))
        bad += not pdf.startswith(b"%PDF") or len(pdf) < 10000
        browser.session = None
        browser.ask("Browser.close")
        browser.process.wait()
    sys.exit(bad > 0)


main()
