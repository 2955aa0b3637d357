"""dyno's subject for Twisted Web: a tree of resources on the default reactor.

    python server.py ADDRESS PORT [CHAIN KEY]
"""

import re
import sys

from OpenSSL.crypto import FILETYPE_PEM, load_privatekey
from twisted.internet import reactor
from twisted.internet.ssl import Certificate, CertificateOptions
from twisted.internet.task import LoopingCall
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Site
from twisted.web.websocket import WebSocketResource
from wsproto.utilities import LocalProtocolError

CERTIFICATE = re.compile(b"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


class Echo(Resource):
    def render_GET(self, request):
        if not request.args:
            return b""
        request.setHeader(b"content-type", b"text/xml")
        if b"value" not in request.args:
            return b"<http_test><error>no value specified</error></http_test>"
        return b"<http_test><value>%s</value></http_test>" % request.args[b"value"][0]


class Text(Resource):
    def __init__(self, text):
        super().__init__()
        self.text = text

    def render_GET(self, request):
        request.setHeader(b"content-type", b"text/plain")
        return self.text


class User(Resource):
    def getChild(self, name, request):
        return Text(name) if name else super().getChild(name, request)

    def render_POST(self, request):
        request.setHeader(b"content-type", b"text/plain")
        return request.content.read()


class Ticks(Resource):
    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds

    def render_GET(self, request):
        request.setHeader(b"content-type", b"text/plain")
        beat = LoopingCall(request.write, b"tick\n")
        beat.start(self.seconds)
        request.notifyFinish().addBoth(lambda _: beat.stop())
        return NOT_DONE_YET


class SocketTicks:
    """A WebSocket's protocol, and the factory of its own."""

    def __init__(self, seconds):
        self.seconds = seconds

    def buildProtocol(self, request):
        return self

    def negotiationStarted(self, transport):
        self.beat = LoopingCall(transport.sendTextMessage, "tick")

    def negotiationFinished(self):
        # After the client's goodbye nothing can be said, and connectionLost is still to come.
        self.beat.start(self.seconds).addErrback(lambda failure: failure.trap(LocalProtocolError))

    def textMessageReceived(self, message):
        pass

    def bytesMessageReceived(self, data):
        pass

    def pongReceived(self, payload):
        pass

    def connectionLost(self, reason):
        if self.beat.running:
            self.beat.stop()


class SocketEcho:
    """A WebSocket's protocol, and the factory of more."""

    def buildProtocol(self, request):
        return SocketEcho()

    def negotiationStarted(self, transport):
        self.transport = transport

    def negotiationFinished(self):
        pass

    def textMessageReceived(self, message):
        self.transport.sendTextMessage(message)

    def bytesMessageReceived(self, data):
        self.transport.sendBytesMessage(data)

    def pongReceived(self, payload):
        pass

    def connectionLost(self, reason):
        pass


class ByPeriod(Resource):
    """Its children are numbers of seconds."""

    def __init__(self, resource):
        super().__init__()
        self.resource = resource

    def getChild(self, name, request):
        seconds = int(name) if name.isdigit() else 0
        return self.resource(seconds) if seconds else super().getChild(name, request)


class QuietSite(Site):
    def log(self, request):
        """The usual one words a line for every answer."""


def tls(chain, key):
    with open(chain, "rb") as file:
        certificates = [Certificate.loadPEM(text).original for text in CERTIFICATE.findall(file.read())]
    with open(key, "rb") as file:
        key = load_privatekey(FILETYPE_PEM, file.read())
    return CertificateOptions(key, certificates[0], extraCertChain=certificates[1:])


def main():
    address, port, *pair = sys.argv[1:]
    root = Resource()
    root.putChild(b"", Echo())
    root.putChild(b"hello", Text(b"Hello, world!"))
    root.putChild(b"user", User())
    root.putChild(b"poll", ByPeriod(Ticks))
    root.putChild(b"wspoll", ByPeriod(lambda seconds: WebSocketResource(SocketTicks(seconds))))
    root.putChild(b"wsecho", WebSocketResource(SocketEcho()))
    site = QuietSite(root)
    if pair:
        # The site offers HTTP/2 by itself.
        reactor.listenSSL(int(port), site, tls(*pair), interface=address)
    else:
        reactor.listenTCP(int(port), site, interface=address)
    reactor.run()


if __name__ == "__main__":
    main()
