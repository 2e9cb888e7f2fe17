package dev.bourse.simulation.hostile;

import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A request in the making: a sample's parts, each as it will stand on the wire. */
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

  /** What is done to the target, the body and the whole, in the end. */
  UnaryOperator<String> onTarget = target -> target;

  UnaryOperator<byte[]> onBody = body -> body;
  UnaryOperator<byte[]> onWhole = whole -> whole;

  /** Whether the body's length goes out with it, as it should. */
  boolean saysLength = true;

  /** Whether it is surely one whole request, so that silence is a fault. */
  boolean isWhole = true;

  /**
   * @param address where it says it comes from, to a service that believes it
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

  /** Puts a header in the place of those of its name. */
  void header(String name, String value) {
    dropHeader(name);
    headers.add(name + ": " + value);
  }

  void dropHeader(String name) {
    headers.removeIf(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1));
  }

  /** Puts a parameter in the place of those of its name. */
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

  /** The target as it stands in the request line. */
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
    // Each character up to 255 is a byte, and what is beyond goes as UTF-8.
    out.writeBytes(Tree.bytes(head.append("\r\n").toString()));
    out.writeBytes(body);
    return new Request(method, target, onWhole.apply(out.toByteArray()), isWhole);
  }
}
