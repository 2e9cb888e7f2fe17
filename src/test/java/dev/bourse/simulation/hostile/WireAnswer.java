package dev.bourse.simulation.hostile;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * One answer on the wire.
 *
 * @param headers by their names in lower case
 */
@SuppressWarnings("ArrayRecordComponent") // No two of them are compared.
record WireAnswer(int status, Map<String, List<String>> headers, byte[] body) {

  /** Returns the first value of a header, empty if there is none. */
  String header(String name) {
    return headers.getOrDefault(name, List.of("")).get(0);
  }

  boolean isJson() {
    return header("content-type").equals("application/json") && body.length > 0;
  }

  boolean isAccepted() {
    return status < 400;
  }

  String text() {
    return new String(body, StandardCharsets.UTF_8);
  }
}
