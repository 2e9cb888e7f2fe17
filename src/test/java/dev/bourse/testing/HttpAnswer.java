package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpHeaders;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What the service answered. */
public record HttpAnswer(int status, HttpHeaders headers, @Nullable JsonObject body) {

  /** The body of a 200. */
  public JsonObject ok() {
    assertEquals(200, status, String.valueOf(body));
    return json();
  }

  /** The body of a refusal with this code; a throttling one must say when to come back. */
  public JsonObject refused(ErrorCode code) {
    assertEquals(code.code(), json().getString("error"), json().encode());
    assertEquals(code.status(), status);
    assertEquals(
        String.valueOf(json().getValue("retry_after_s", "")), header("retry-after"), "Retry-After");
    return json();
  }

  public JsonObject json() {
    return Objects.requireNonNull(body, () -> "no body with status " + status);
  }

  /** The header's value, empty when it is absent. */
  public String header(String name) {
    return headers.firstValue(name).orElse("");
  }
}
