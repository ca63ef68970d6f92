#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# browser.py - a page is opened in a Chromium without a window, and used as people use it
#
#     browser.py FILE STEP...
#
# Steps are done one after the other:
#
#     eval:EXPRESSION       prints its value as JSON, on a line
#     click:SELECTOR@X,Y    with the mouse, so far from the upper left corner of the element
#     double:SELECTOR@X,Y   twice
#     move:SELECTOR@X,Y     without a click
#     wheel:SELECTOR@X,Y,DY with the shift key held
#     type:SELECTOR=TEXT    into an element that takes text
#     key:NAME              pressed and released
#     shot:FILE             a picture of the page, as PNG
#
# Errors on the page, among them what its policy has stopped, go to stderr, and make the status 1.
# The browser is spoken to by two pipes, as the DevTools protocol has it: messages end with a NUL.

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

# For one answer, in seconds: others may have the processors.
DEADLINE = 120


class Browser:
    def __init__(self, program, folder):
        (self.theirs_in, self.to), (self.of, self.theirs_out) = os.pipe(), os.pipe()
        self.process = subprocess.Popen(
            [program, '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run',
             '--disable-dev-shm-usage', '--remote-debugging-pipe', '--window-size=1280,1000',
             '--user-data-dir=' + folder, 'about:blank'],
            close_fds=False, preexec_fn=self.place, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(self.theirs_in)
        os.close(self.theirs_out)
        self.number, self.rest, self.errors, self.loaded = 0, b'', [], False
        self.session = None

    def place(self):
        # The browser reads from 3 and writes to 4. Moved aside first, in case one is the other.
        theirs_in, theirs_out = os.dup(self.theirs_in), os.dup(self.theirs_out)
        high = os.dup2(theirs_in, 60), os.dup2(theirs_out, 61)
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)
        for number in (60, 61):
            os.close(number)

    def receive(self):
        while b'\0' not in self.rest:
            got = os.read(self.of, 1 << 16)
            if not got:
                sys.exit('browser.py: the browser has ended')
            self.rest += got
        message, self.rest = self.rest.split(b'\0', 1)
        message = json.loads(message)
        self.note(message)
        return message

    def note(self, message):
        what, args = message.get('method'), message.get('params', {})
        if what == 'Page.loadEventFired':
            self.loaded = True
        elif what == 'Runtime.exceptionThrown':
            details = args['exceptionDetails']
            self.errors.append(details.get('exception', {}).get('description', details['text']))
        elif what == 'Runtime.consoleAPICalled' and args['type'] in ('error', 'warning', 'assert'):
            self.errors.append(str([arg.get('value') for arg in args['args']]))
        elif what == 'Log.entryAdded' and args['entry']['level'] in ('error', 'warning'):
            self.errors.append(args['entry']['text'])

    def ask(self, method, **args):
        signal.alarm(DEADLINE)
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': args}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.to, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.receive()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    sys.exit(f'browser.py: {method}: {answer["error"]["message"]}')
                return answer['result']

    def open(self, path):
        page = self.ask('Target.createTarget', url='about:blank')
        self.session = self.ask('Target.attachToTarget', targetId=page['targetId'],
                                flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log'):
            self.ask(domain + '.enable')
        self.ask('Page.navigate', url='file://' + os.path.abspath(path))
        while not self.loaded:
            self.receive()
        self.settle()

    def value(self, expression):
        answer = self.ask('Runtime.evaluate', expression=expression, returnByValue=True,
                          awaitPromise=True)
        if 'exceptionDetails' in answer:
            sys.exit('browser.py: ' + answer['exceptionDetails']['exception']['description'])
        return answer['result'].get('value')

    # Waits until what was done is drawn.
    def settle(self):
        self.value('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')

    def mouse(self, kind, place, **more):
        x, y = place
        self.ask('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    # The point of the window that SELECTOR@X,Y means, once it has been scrolled to; and the rest.
    def point(self, text):
        selector, numbers = text.rsplit('@', 1)
        numbers = [float(number) for number in numbers.split(',')]
        left, top = self.value(
            '(() => { const e = document.querySelector(%s); e.scrollIntoView({ block: "center" });'
            'const b = e.getBoundingClientRect(); return [b.left, b.top]; })()'
            % json.dumps(selector))
        return (left + numbers[0], top + numbers[1]), numbers[2:]

    def click(self, place, count):
        for time in range(1, count + 1):
            for kind in ('mousePressed', 'mouseReleased'):
                self.mouse(kind, place, button='left', clickCount=time)

    def step(self, text):
        kind, rest = text.split(':', 1)
        if kind == 'eval':
            print(json.dumps(self.value(rest)))
        elif kind in ('click', 'double'):
            self.click(self.point(rest)[0], 1 if kind == 'click' else 2)
        elif kind == 'move':
            self.mouse('mouseMoved', self.point(rest)[0])
        elif kind == 'wheel':
            place, more = self.point(rest)
            self.mouse('mouseWheel', place, deltaX=0, deltaY=more[0], modifiers=8)
        elif kind == 'type':
            selector, words = rest.split('=', 1)
            self.value('document.querySelector(%s).focus()' % json.dumps(selector))
            self.value('document.querySelector(%s).select()' % json.dumps(selector))
            self.ask('Input.insertText', text=words)
        elif kind == 'key':
            for what in ('rawKeyDown', 'keyUp'):
                self.ask('Input.dispatchKeyEvent', type=what, key=rest, code=rest)
        elif kind == 'shot':
            with open(rest, 'wb') as file:
                file.write(base64.b64decode(self.ask('Page.captureScreenshot')['data']))
        else:
            sys.exit('browser.py: what is ' + kind)
        self.settle()


def main():
    program = shutil.which('chromium')
    folder = tempfile.mkdtemp()
    browser = Browser(program, folder)
    try:
        signal.signal(signal.SIGALRM, lambda *_: sys.exit('browser.py: no answer'))
        browser.open(sys.argv[1])
        for step in sys.argv[2:]:
            browser.step(step)
    finally:
        browser.process.kill()
        browser.process.wait()
        shutil.rmtree(folder, ignore_errors=True)
    for error in browser.errors:
        print('on the page:', error, file=sys.stderr)
    sys.exit(1 if browser.errors else 0)


main()
