package dev.bourse.simulation.hostile;

import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A request under construction: a sample's parts in their form on the wire. */
final class Draft {
  final AcceptedRequest sample;
  String method;
  String version = "HTTP/1.1";

  /** Parameters of the path, encoded. */
  final Map<String, String> path = new LinkedHashMap<>();

  /** Parts of the query, encoded, as {@code name=value}. */
  final List<String> query = new ArrayList<>();

  /** Header lines without their ends. */
  final List<String> headers = new ArrayList<>();

  /** The JSON body of an operation that takes one. */
  final Tree json;

  /** Fields of a form, as {@code name=value}, encoded. */
  final List<String> form = new ArrayList<>();

  /** Final changes of the target, the body and the whole request. */
  UnaryOperator<String> onTarget = target -> target;

  UnaryOperator<byte[]> onBody = body -> body;
  UnaryOperator<byte[]> onWhole = whole -> whole;

  /** Whether the body's length is sent, as it should be. */
  boolean saysLength = true;

  /** Whether it is certainly one complete request, so that silence is a fault. */
  boolean isWhole = true;

  /**
   * @param address the claimed client address, which the service trusts
   */
  Draft(AcceptedRequest sample, String address) {
    this.sample = sample;
    method = sample.operation().method();
    json = Tree.of(sample.json());
    for (AttackedOperation.Parameter parameter : sample.operation().parameters()) {
      String value = sample.values().get(parameter.name());
      if (value != null && parameter.isInPath()) {
        path.put(parameter.name(), encoded(value));
      } else if (value != null) {
        query.add(parameter.name() + '=' + encoded(value));
      }
    }
    headers.add("Host: 127.0.0.1");
    headers.add("X-Forwarded-For: " + address);
    sample.headers().forEach((name, value) -> headers.add(name + ": " + value));
    if (!sample.operation().mediaType().isEmpty()
        && !sample.headers().containsKey("Content-Type")) {
      headers.add("Content-Type: " + sample.operation().mediaType());
    }
    sample.form().forEach((name, value) -> form.add(name + '=' + encoded(value)));
  }

  static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Replaces the headers of a name. */
  void header(String name, String value) {
    dropHeader(name);
    headers.add(name + ": " + value);
  }

  void dropHeader(String name) {
    headers.removeIf(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1));
  }

  /** Replaces a parameter. */
  void parameter(AttackedOperation.Parameter parameter, String encoded) {
    if (parameter.isInPath()) {
      path.put(parameter.name(), encoded);
    } else {
      query.removeIf(part -> part.startsWith(parameter.name() + '='));
      query.add(parameter.name() + '=' + encoded);
    }
  }

  void field(String name, String encoded) {
    form.removeIf(part -> part.startsWith(name + '='));
    form.add(name + '=' + encoded);
  }

  /** Returns the target of the request line. */
  String target() {
    String target = sample.operation().path();
    for (Map.Entry<String, String> entry : path.entrySet()) {
      target = target.replace('{' + entry.getKey() + '}', entry.getValue());
    }
    return onTarget.apply(query.isEmpty() ? target : target + '?' + String.join("&", query));
  }

  byte[] body() {
    AttackedOperation operation = sample.operation();
    byte[] body =
        operation.takesJson()
            ? Tree.bytes(json.write())
            : operation.takesForm() ? Tree.bytes(String.join("&", form)) : sample.bytes();
    return onBody.apply(body);
  }

  Request request() {
    byte[] body = body();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    StringBuilder head = new StringBuilder();
    String target = target();
    head.append(method).append(' ').append(target).append(' ').append(version).append("\r\n");
    headers.forEach(line -> head.append(line).append("\r\n"));
    if (saysLength && (body.length > 0 || !sample.operation().mediaType().isEmpty())) {
      head.append("Content-Length: ").append(body.length).append("\r\n");
    }
    // Characters up to 255 are bytes, and others are sent as UTF-8.
    out.writeBytes(Tree.bytes(head.append("\r\n").toString()));
    out.writeBytes(body);
    return new Request(method, target, onWhole.apply(out.toByteArray()), isWhole);
  }
}
