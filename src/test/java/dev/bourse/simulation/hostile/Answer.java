package dev.bourse.simulation.hostile;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * One answer off the wire.
 *
 * @param headers by their names in small letters
 */
@SuppressWarnings("ArrayRecordComponent") // No two of them are compared.
record Answer(int status, Map<String, List<String>> headers, byte[] body) {

  /** The first value of a header, empty when there is none. */
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
