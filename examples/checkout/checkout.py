#!/usr/bin/python3
"""A shop of three services, each a process of its own, that traces its requests as OpenTelemetry has it:
checkout.py >traces.otlp. An express order is shipped without waiting for the payment."""
import json
import os
import secrets
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ports = {"shop": 18201, "payment": 18202, "shipping": 18203}
SERVER, CLIENT = 2, 3


class Span:
    def __init__(self, service, name, kind, trace, parent):
        self.service, self.name, self.kind, self.trace, self.parent = service, name, kind, trace, parent
        self.id = secrets.token_hex(8)
        self.start = time.time_ns()

    def end(self, **attributes):
        """One request to a collector a span; lines this short are written whole."""
        span = {"traceId": self.trace, "spanId": self.id, "parentSpanId": self.parent, "name": self.name, "kind": self.kind,
                "startTimeUnixNano": str(self.start), "endTimeUnixNano": str(time.time_ns()),
                "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()], "status": {"code": 1}}
        resource = {"attributes": [{"key": "service.name", "value": {"stringValue": self.service}}]}
        os.write(1, (json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}) + "\n").encode())


def call(parent, service, order):
    span = Span(parent.service, f"POST {service}", CLIENT, parent.trace, parent.id)
    request = urllib.request.Request(f"http://127.0.0.1:{ports[service]}/{order}", data=b"", headers={"traceparent": f"00-{span.trace}-{span.id}-01"})
    urllib.request.urlopen(request).read()
    span.end()


def checkout(span, order):
    if order.startswith("express"):
        paying = threading.Thread(target=call, args=(span, "payment", order))
        paying.start()
        call(span, "shipping", order)
        paying.join()
    else:
        call(span, "payment", order)
        call(span, "shipping", order)


def charge(span, order):
    time.sleep(0.01)


def ship(span, order):
    time.sleep(0.002)


def serve(service, work):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            _, trace, parent, _ = self.headers["traceparent"].split("-")
            span, order = Span(service, work.__name__, SERVER, trace, parent), self.path[1:]
            work(span, order)
            span.end(order=order)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", ports[service]), Handler)
    process = os.fork()
    if process == 0:
        server.serve_forever()
    return process


def main():
    services = [serve(service, work) for service, work in (("shop", checkout), ("payment", charge), ("shipping", ship))]
    try:
        for order in ("book", "express-lamp", "chair"):
            span = Span("customer", "order", CLIENT, secrets.token_hex(16), "")
            request = urllib.request.Request(f"http://127.0.0.1:{ports['shop']}/{order}", data=b"", headers={"traceparent": f"00-{span.trace}-{span.id}-01"})
            urllib.request.urlopen(request).read()
            span.end()
    finally:
        for service in services:
            os.kill(service, 15)


main()
