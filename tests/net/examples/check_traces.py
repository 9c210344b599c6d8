"""Checks the spans of http_server against the schema of OpenTelemetry: check_traces.py PROGRAM."""

from __future__ import annotations

import base64
import http.client
import http.server
import json
import pathlib
import sys
import tempfile
import threading
import time
from typing import Any, ClassVar

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from server import running

PROGRAM = sys.argv[1]
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Collector(http.server.BaseHTTPRequestHandler):
    bodies: ClassVar[list[bytes]] = []

    def do_POST(self) -> None:
        assert self.path == "/v1/traces"
        assert self.headers["Content-Type"] == "application/json"
        self.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:
        pass


def with_base64_ids(value: Any) -> Any:
    """The JSON of OTLP has hexadecimal ids, where that of protobuf has base64."""
    if isinstance(value, list):
        return [with_base64_ids(each) for each in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        key: base64.b64encode(bytes.fromhex(each)).decode() if key in ids else with_base64_ids(each)
        for key, each in value.items()
    }


def spans_of(body: bytes) -> list[Span]:
    """Fails for a name that the schema does not have."""
    message = json_format.ParseDict(with_base64_ids(json.loads(body)), ExportTraceServiceRequest())
    (of_resource,) = message.resource_spans
    attributes = {each.key: each.value.string_value for each in of_resource.resource.attributes}
    assert attributes == {"service.name": "http_server"}, attributes
    (of_scope,) = of_resource.scope_spans
    return list(of_scope.spans)


def get(port: int, target: str, **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", target, headers=headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status


def main() -> None:
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{collector.server_port}/v1/traces"
    begin = time.time_ns()
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "a").write_text("a")
        with running(PROGRAM, folder, "0", "--traces", url) as (_, port):
            assert get(port, "/a?secret=1", traceparent=f"00-{TRACE}-{PARENT}-01", tracestate="other=1") == 200
            assert get(port, "/absent", traceparent="broken") == 404
            assert get(port, "/a", traceparent=f"00-{TRACE}-{PARENT}-00") == 200  # is not sampled
    end = time.time_ns()
    spans = [span for body in Collector.bodies for span in spans_of(body)]
    assert len(spans) == 2, spans
    first, second = spans
    assert first.trace_id.hex() == TRACE
    assert first.parent_span_id.hex() == PARENT
    assert first.trace_state == "other=1"
    assert second.trace_id.hex() != TRACE
    assert not second.parent_span_id
    for span, path, status in ((first, "/a", 200), (second, "/absent", 404)):
        assert span.name == "GET /{path...}", span
        assert span.kind == Span.SPAN_KIND_SERVER
        assert len(span.trace_id) == 16
        assert len(span.span_id) == 8
        assert begin - 1_000_000_000 < span.start_time_unix_nano <= span.end_time_unix_nano < end + 1_000_000_000
        assert span.status.code == Status.STATUS_CODE_UNSET
        attributes = {each.key: each.value for each in span.attributes}
        assert attributes["url.path"].string_value == path
        assert attributes["http.response.status_code"].int_value == status


main()
