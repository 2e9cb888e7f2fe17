package dev.bourse.simulation.hostile;

import dev.bourse.simulation.hostile.Mutation.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** Invalid HTTP framing: request lines, lengths, ends. */
final class FramingMutations {
  private static final List<Mutation> ALL = new ArrayList<>();

  static {
    for (String line :
        List.of(
            "Content-Length: -1",
            "Content-Length: +2",
            "Content-Length: 0x2",
            "Content-Length: 2 3",
            "Content-Length: 99999999999999999999",
            "Content-Length: 9223372036854775807",
            "Content-Length: ",
            "Content-Length: 2, 2",
            "Transfer-Encoding: chunked",
            "Transfer-Encoding: identity",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: chunked, chunked",
            "Transfer-Encoding: xchunked",
            "Transfer-Encoding:\tchunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: 1\r\nTransfer-Encoding: chunked",
            "Content-Length: 1000000",
            "Content-Length: 40")) {
      of(
          line,
          draft -> {
            draft.saysLength = false;
            draft.headers.add(line);
          });
    }
    for (String line :
        List.of(
            "Content-Length: 3",
            "Transfer-Encoding: chunked",
            "Bad Header: x",
            ": x",
            "NoColon",
            " folded: x",
            "X: a\r\n folded",
            "X\u0000: y",
            "X: \u0000",
            "X: a\rb",
            "X: a\nb",
            "X : y",
            "\u00e9: x",
            "X: \u0001",
            "Host: b",
            "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13",
            "Expect: 100-continue",
            "Trailer: X",
            "Connection: close",
            "Proxy-Connection: x",
            "Keep-Alive: x")) {
      of("a line " + line, draft -> draft.headers.add(line));
    }
    for (String version :
        List.of(
            "HTTP/1.0",
            "HTTP/0.9",
            "HTTP/2.0",
            "HTTP/1.2",
            "HTTP/1.1 x",
            "HTTP/",
            "http/1.1",
            "",
            "HTTP/11.1")) {
      of("version " + version, draft -> draft.version = version);
    }
    for (String method :
        List.of("", "get", "G T", "PRI", "CONNECT", "M".repeat(5_000), "\u00e9", "@")) {
      of("method " + method, draft -> draft.method = method);
    }
    for (UnaryOperator<String> change : targets()) {
      of("target " + change.apply("/x"), draft -> draft.onTarget = change);
    }
    for (String chunks :
        List.of(
            "0\r\n\r\n",
            "zz\r\n",
            "-1\r\n",
            "ffffffffffffffff\r\n",
            "5\r\nab",
            "2\r\n{}\r\n0\r\n\r\n",
            "2\r\n{}0\r\n\r\n",
            "2;x=y\r\n{}\r\n0\r\nTrailer: a\r\n\r\n",
            "02\r\n{}\r\n00\r\n\r\n",
            "2\n{}\n0\n\n",
            "1;" + "x".repeat(70_000) + "\r\n{\r\n",
            "0\r\n" + "X: y\r\n".repeat(2_000) + "\r\n",
            "1\r\n{\r\n".repeat(5_000),
            "10001\r\n" + " ".repeat(0x10001) + "\r\n0\r\n\r\n")) {
      of(
          "chunks " + chunks,
          draft -> {
            draft.saysLength = false;
            draft.headers.add("Transfer-Encoding: chunked");
            draft.onBody = body -> Tree.bytes(chunks);
          });
    }
    whole("a second request behind it", bytes -> joined(bytes, bytes));
    whole("garbage behind it", bytes -> joined(bytes, Tree.bytes("GARBAGE\r\n\r\n")));
    whole("empty lines before it", bytes -> joined(Tree.bytes("\r\n\r\n"), bytes));
    whole("many empty lines before it", bytes -> joined(Tree.bytes("\r\n".repeat(5_000)), bytes));
    whole(
        "bare line feeds",
        bytes -> latin1(new String(bytes, StandardCharsets.ISO_8859_1).replace("\r\n", "\n")));
    whole(
        "bare carriage returns",
        bytes -> latin1(new String(bytes, StandardCharsets.ISO_8859_1).replace("\r\n", "\r")));
    whole("all but its last byte", bytes -> Arrays.copyOf(bytes, bytes.length - 1));
    whole("half of it", bytes -> Arrays.copyOf(bytes, bytes.length / 2));
    whole("a TLS hello", bytes -> Tree.bytes("\u0016\u0003\u0001\u0000\u0005\u0001"));
    whole("the preface of HTTP/2", bytes -> Tree.bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    whole("nothing", bytes -> new byte[0]);
  }

  private FramingMutations() {}

  private static List<UnaryOperator<String>> targets() {
    return List.of(
        target -> "http://127.0.0.1" + target,
        target -> "https://evil.example" + target,
        target -> "http://" + target,
        target -> "127.0.0.1:80",
        target -> "*",
        target -> target.substring(1),
        target -> target + " x",
        target -> target + "\u0000",
        target -> target + "\t",
        target -> target + Tree.raw(0xff),
        target -> "http://[::1" + target,
        target -> target + "#fragment",
        target -> "\\" + target);
  }

  private static void of(String name, Consumer<Draft> change) {
    ALL.add(
        Mutation.of(
            Kind.FRAMING,
            name,
            draft -> {
              draft.isWhole = false;
              change.accept(draft);
            }));
  }

  private static void whole(String name, UnaryOperator<byte[]> change) {
    of(name, draft -> draft.onWhole = change);
  }

  private static byte[] latin1(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static byte[] joined(byte[] one, byte[] other) {
    byte[] all = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, all, one.length, other.length);
    return all;
  }

  static List<Mutation> of(AcceptedRequest sample) {
    List<Mutation> all = new ArrayList<>(ALL);
    all.add(
        Mutation.of(
            Kind.FRAMING,
            "the body in chunks of one byte",
            draft -> {
              draft.isWhole = false;
              draft.saysLength = false;
              draft.headers.add("Transfer-Encoding: chunked");
              UnaryOperator<byte[]> before = draft.onBody;
              draft.onBody = body -> chunked(before.apply(body));
            }));
    return all;
  }

  private static byte[] chunked(byte[] body) {
    StringBuilder out = new StringBuilder();
    for (byte b : body) {
      out.append("1\r\n").append(Tree.raw(b)).append("\r\n");
    }
    return Tree.bytes(out.append("0\r\n\r\n").toString());
  }
}
