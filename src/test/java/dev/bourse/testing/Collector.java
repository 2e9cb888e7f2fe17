package dev.bourse.testing;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/** A collector of traces, which takes OTLP in protobuf over HTTP. */
public final class Collector implements AutoCloseable {
  /** What it does with a batch. */
  public enum Manner {
    TAKES,
    REFUSES,
    /** Never answers. */
    IS_SILENT
  }

  /** A span that was sent; what has no value is empty. */
  public record Told(
      String traceId,
      String spanId,
      String parentId,
      String name,
      long kind,
      long beganNanos,
      long endedNanos,
      Map<String, String> attributes,
      boolean failed) {
    public static final long SERVER = 2;
    public static final long CLIENT = 3;

    /** What it has under a key; empty for nothing. */
    public String get(String key) {
      return attributes.getOrDefault(key, "");
    }
  }

  private final Vertx vertx = Vertx.vertx();
  private final HttpServer server;
  private final List<Told> told = new CopyOnWriteArrayList<>();
  private final List<Map<String, String>> resources = new CopyOnWriteArrayList<>();
  private final List<Buffer> bodies = new CopyOnWriteArrayList<>();
  private final AtomicInteger batches = new AtomicInteger();

  public Collector() {
    this(Manner.TAKES);
  }

  public Collector(Manner manner) {
    server =
        vertx
            .createHttpServer(new HttpServerOptions().setHost("127.0.0.1").setPort(0))
            .requestHandler(
                request -> request.body().onSuccess(body -> take(request, body, manner)))
            .listen()
            .await();
  }

  private void take(HttpServerRequest request, Buffer body, Manner manner) {
    batches.incrementAndGet();
    if (!request.path().equals("/v1/traces")
        || !"application/x-protobuf".equals(request.getHeader("content-type"))) {
      request.response().setStatusCode(404).end();
      return;
    }
    switch (manner) {
      case TAKES -> {
        bodies.add(body);
        for (ByteBuffer ofResource : new Message(body.getBytes()).parts(1)) {
          Message resource = new Message(ofResource);
          resource.parts(1).forEach(one -> resources.add(attributes(new Message(one), 1)));
          for (ByteBuffer scope : resource.parts(2)) {
            new Message(scope).parts(2).forEach(span -> told.add(span(new Message(span))));
          }
        }
        request.response().end();
      }
      case REFUSES -> request.response().setStatusCode(400).end();
      case IS_SILENT -> {}
    }
  }

  private static Told span(Message span) {
    return new Told(
        span.hex(1),
        span.hex(2),
        span.hex(4),
        span.text(5),
        span.number(6),
        span.number(7),
        span.number(8),
        attributes(span, 9),
        span.parts(15).stream().anyMatch(status -> new Message(status).number(3) == 2));
  }

  private static Map<String, String> attributes(Message of, int field) {
    Map<String, String> all = new TreeMap<>();
    for (ByteBuffer one : of.parts(field)) {
      Message pair = new Message(one);
      Message value = new Message(pair.parts(2).get(0));
      all.put(
          pair.text(1), value.parts(1).isEmpty() ? Long.toString(value.number(3)) : value.text(1));
    }
    return all;
  }

  /** Fields of a message by their numbers, as https://protobuf.dev/programming-guides/encoding/. */
  private static final class Message {
    private final Map<Integer, List<Object>> fields = new TreeMap<>();

    Message(byte[] bytes) {
      this(ByteBuffer.wrap(bytes));
    }

    Message(ByteBuffer shared) {
      ByteBuffer bytes = shared.duplicate().order(ByteOrder.LITTLE_ENDIAN);
      while (bytes.hasRemaining()) {
        long tag = varint(bytes);
        Object value =
            switch ((int) (tag & 7)) {
              case 0 -> varint(bytes);
              case 1 -> bytes.getLong();
              case 2 -> {
                int length = (int) varint(bytes);
                ByteBuffer part = bytes.slice(bytes.position(), length);
                bytes.position(bytes.position() + length);
                yield part;
              }
              case 5 -> (long) bytes.getInt();
              default -> throw new AssertionError("no such type: " + tag);
            };
        fields.computeIfAbsent((int) (tag >>> 3), n -> new CopyOnWriteArrayList<>()).add(value);
      }
    }

    private static long varint(ByteBuffer bytes) {
      long value = 0;
      for (int shift = 0; ; shift += 7) {
        byte next = bytes.get();
        value |= (long) (next & 0x7f) << shift;
        if (next >= 0) {
          return value;
        }
      }
    }

    List<ByteBuffer> parts(int field) {
      return fields.getOrDefault(field, List.of()).stream().map(ByteBuffer.class::cast).toList();
    }

    private byte[] bytes(int field) {
      if (!fields.containsKey(field)) {
        return new byte[0];
      }
      ByteBuffer part = parts(field).get(0).duplicate();
      byte[] copy = new byte[part.remaining()];
      part.get(copy);
      return copy;
    }

    String text(int field) {
      return new String(bytes(field), StandardCharsets.UTF_8);
    }

    String hex(int field) {
      return HexFormat.of().formatHex(bytes(field));
    }

    long number(int field) {
      return (Long) fields.getOrDefault(field, List.of(0L)).get(0);
    }
  }

  public String url() {
    return "http://127.0.0.1:" + server.actualPort();
  }

  /** How often something was sent, taken or not. */
  public int batches() {
    return batches.get();
  }

  /** What has come by now. */
  public List<Told> told() {
    return List.copyOf(told);
  }

  /** Of what each batch was. */
  public List<Map<String, String>> resources() {
    return List.copyOf(resources);
  }

  /** All that has come, as it was sent: whatever is text in it is readable. */
  public String text() {
    StringBuilder all = new StringBuilder();
    bodies.forEach(body -> all.append(body.toString(StandardCharsets.ISO_8859_1)));
    return all.toString();
  }

  /** The first span that is wanted, once it is there. */
  public Told await(String what, Predicate<Told> isWanted) {
    return Polls.until(what, () -> told.stream().filter(isWanted).findFirst(), Optional::isPresent)
        .orElseThrow();
  }

  /** The span of a request, once it is there. */
  public Told awaitRequest(String requestId) {
    return await(
        "the span of request " + requestId,
        span -> span.get("bourse.request_id").equals(requestId));
  }

  /** What is within a span. */
  public List<Told> within(Told span) {
    return told.stream().filter(one -> one.parentId().equals(span.spanId())).toList();
  }

  @Override
  public void close() {
    vertx.close().await();
  }
}
