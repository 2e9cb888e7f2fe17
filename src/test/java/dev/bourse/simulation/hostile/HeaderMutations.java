package dev.bourse.simulation.hostile;

import dev.bourse.simulation.hostile.Mutation.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Values of headers. To try another, add a value to a header's list, or a header with its list. */
final class HeaderMutations {
  private static final String LONG = "x".repeat(7_000);
  private static final String TOO_LONG = "x".repeat(100_000);

  private static final Map<String, List<String>> VALUES =
      Map.ofEntries(
          Map.entry(
              "Content-Type",
              List.of(
                  "",
                  "application/json; charset=utf-8",
                  "application/json;charset=utf-16",
                  "application/json; charset=\"",
                  "APPLICATION/JSON",
                  "application/json ;",
                  "text/plain",
                  "application/x-www-form-urlencoded",
                  "multipart/form-data",
                  "application/json, text/html",
                  "multipart/form-data; boundary=x",
                  "application/*",
                  "*/*",
                  "json",
                  "/",
                  ";",
                  "a/b/c",
                  "application/octet-stream",
                  "application/problem+json",
                  "text/html; charset=none",
                  Tree.raw(0xff),
                  LONG)),
          Map.entry(
              "Accept",
              List.of(
                  "",
                  "*/*",
                  "text/html",
                  "application/json",
                  "application/json;q=0",
                  "*/*;q=0",
                  "text/*",
                  "application/*;q=0.5, text/html",
                  ",",
                  ";",
                  "*/json",
                  "a",
                  "image/png",
                  "text/event-stream",
                  "application/json;q=NaN",
                  "application/json;q=1e9",
                  "application/json;q=-1",
                  "q=1",
                  "text/html;level=1;q=0.001",
                  "text/csv",
                  "*/*, ".repeat(1_000),
                  LONG,
                  Tree.raw(0x80))),
          Map.entry(
              "Authorization",
              List.of(
                  "",
                  "Bearer",
                  "Bearer ",
                  "Bearer  x",
                  "bearer x",
                  "Basic",
                  "Basic Og==",
                  "Basic !!!!",
                  "Basic dXNlcjpwYXNz",
                  "Digest a=b",
                  "Negotiate",
                  "x",
                  "Bearer brs_",
                  "Bearer brs__",
                  "Bearer brs_a_b",
                  "Bearer brs_" + "a".repeat(12) + '_' + "a".repeat(38),
                  "Bearer a.b.c",
                  "Bearer eyJhbGciOiJub25lIn0.e30.",
                  "Bearer eyJhbGciOiJIUzI1NiJ9.e30.AAAA",
                  "Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IngifQ.e30." + "A".repeat(86),
                  "Bearer ..",
                  "Bearer .",
                  "Bearer " + "e30.".repeat(500),
                  "Bearer x, Bearer y",
                  "Bearer \u00e9",
                  "Bearer " + LONG,
                  "Bearer " + TOO_LONG)),
          Map.entry(
              "If-None-Match",
              List.of(
                  "*",
                  "",
                  "\"\"",
                  "\"x\"",
                  "W/\"x\"",
                  "x",
                  "\"x\", \"y\"",
                  ",,,",
                  "\"",
                  "*, \"x\"",
                  "\"x\"".repeat(500),
                  "\"a\",".repeat(1_500),
                  "W/",
                  LONG)),
          Map.entry("If-Match", List.of("*", "\"x\"", "\"x\", *", ",", LONG)),
          Map.entry(
              "Range",
              List.of(
                  "bytes=0-0",
                  "bytes=0-",
                  "bytes=-1",
                  "bytes=-0",
                  "bytes=1-0",
                  "bytes=5-5",
                  "bytes=",
                  "bytes",
                  "bytes=a-b",
                  "bytes=0-0,2-2",
                  "bytes=9223372036854775807-",
                  "bytes=-9223372036854775808",
                  "bytes=0-9223372036854775808",
                  "bytes=99999999999999999999-",
                  "items=0-1",
                  "bytes = 0-1",
                  "bytes=0-0," + "1-1,".repeat(1_500),
                  "bytes=--1",
                  "bytes=0--1",
                  "bytes=+0-1")),
          Map.entry(
              "If-Range", List.of("\"x\"", "W/\"x\"", "x", "Sat, 21 Nov 2026 00:00:00 GMT", "")),
          Map.entry("If-Modified-Since", List.of("x", "Sat, 21 Nov 2026 00:00:00 GMT", "0")),
          Map.entry("Expect", List.of("100-continue", "x", "", "100-continue, x")),
          Map.entry(
              "Host",
              List.of(
                  "",
                  "a b",
                  "a:b",
                  "a:99999",
                  "[::1]",
                  "[",
                  "evil.example",
                  "a/b",
                  "a,b",
                  "@",
                  LONG)),
          Map.entry(
              "Connection",
              List.of("close", "keep-alive", "Upgrade", "x", "close, keep-alive", "Host")),
          Map.entry("Accept-Encoding", List.of("gzip", "*", "identity;q=0", "br;q=x", ",")),
          Map.entry("Content-Encoding", List.of("gzip", "identity", "x", "br, gzip")),
          Map.entry(
              "Cookie",
              List.of(
                  "",
                  "bourse=",
                  "bourse=x",
                  "bourse=\"x\"",
                  "=",
                  ";;;",
                  "bourse=" + LONG,
                  "a=b; ".repeat(1_000),
                  "bourse=a; bourse=b",
                  "\u0001")),
          Map.entry(
              "Origin",
              List.of(
                  "null",
                  "https://evil.example",
                  "",
                  "x",
                  "http://127.0.0.1",
                  "\u00e9",
                  "https://[")),
          Map.entry("Sec-Fetch-Site", List.of("cross-site", "x", "")),
          Map.entry("Referer", List.of("x", "https://[", "")),
          Map.entry("X-Forwarded-For", List.of("x", "1.2.3.4", "::", ",", "1.2.3.4,".repeat(500))),
          Map.entry("Forwarded", List.of("for=x", "for=\"[::1", ";")),
          Map.entry("X-Request-Id", List.of("", "x", "\u0000", "a b", LONG, "\u00e9")),
          Map.entry("X-HTTP-Method-Override", List.of("DELETE", "x")),
          Map.entry("Access-Control-Request-Method", List.of("PUT", "", "x y")),
          Map.entry("Access-Control-Request-Headers", List.of("authorization", ",", LONG)),
          Map.entry("Idempotency-Key", List.of("", LONG)),
          Map.entry("Last-Event-ID", List.of("", "x", "-1", "99999999999999999999", LONG)),
          Map.entry(
              "MCP-Protocol-Version",
              List.of("", "x", "2025-11-25", "2026-07-28", "9999-99-99", LONG)),
          Map.entry("Mcp-Session-Id", List.of("", "x", "\u00e9", LONG)),
          Map.entry("Mcp-Method", List.of("", "x", "tools/call", "tools/list")),
          Map.entry("Mcp-Name", List.of("", "x", "whoami", "=?utf-8?B?eA==?=")),
          Map.entry("TE", List.of("trailers", "chunked")),
          Map.entry("Accept-Language", List.of("x", "*;q=2", ",".repeat(2_000))),
          Map.entry("traceparent", List.of("x", "00-" + "0".repeat(32) + "-0-0")));

  private HeaderMutations() {}

  static List<Mutation> of(AcceptedRequest sample) {
    List<Mutation> all = new ArrayList<>();
    VALUES.keySet().stream()
        .sorted()
        .forEach(
            name -> {
              for (String value : VALUES.getOrDefault(name, List.of())) {
                all.add(
                    Mutation.of(
                        Kind.HEADER, name + ": " + value, draft -> draft.header(name, value)));
              }
              all.add(
                  Mutation.of(
                      Kind.HEADER, "a second " + name, draft -> draft.headers.add(name + ": x")));
            });
    for (String name : sample.headers().keySet()) {
      all.add(Mutation.of(Kind.HEADER, "no " + name, draft -> draft.dropHeader(name)));
      all.add(
          Mutation.of(
              Kind.HEADER,
              name + " twice",
              draft -> draft.headers.add(name + ": " + sample.headers().get(name))));
    }
    for (String name : List.of("Content-Type", "Host")) {
      all.add(Mutation.of(Kind.HEADER, "no " + name, draft -> draft.dropHeader(name)));
    }
    all.add(
        Mutation.of(
            Kind.HEADER,
            "a hundred headers",
            draft -> {
              for (int i = 0; i < 100; i++) {
                draft.headers.add("X-" + i + ": " + i);
              }
            }));
    all.add(
        Mutation.of(
            Kind.HEADER,
            "thousands of headers",
            draft -> {
              for (int i = 0; i < 5_000; i++) {
                draft.headers.add("a:");
              }
            }));
    for (String method :
        List.of("HEAD", "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE")) {
      // Another operation's method is tried with that operation, and might delete other samples'
      // objects.
      if (!sample.operation().siblings().contains(method)) {
        all.add(Mutation.of(Kind.HEADER, "method " + method, draft -> draft.method = method));
      }
    }
    return all;
  }
}
