package dev.bourse.core;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A refusal sent to a client: an error code, a sentence that names the exact fault, and the extra
 * fields of the code ({@code maximum}, {@code retry_after_s}, {@code reason} …).
 *
 * <p>It is control flow, not a failure of the program, so it carries no stack trace.
 */
public final class ApiException extends RuntimeException {
  private final ErrorCode code;
  private final Map<String, Object> extras;

  private ApiException(ErrorCode code, String detail, Map<String, Object> extras) {
    super(detail, null, false, false);
    this.code = code;
    this.extras = extras;
  }

  /** A refusal with no extra field. */
  public static ApiException of(ErrorCode code, String detail) {
    return new ApiException(code, detail, Map.of());
  }

  /**
   * A refusal with no extra field.
   *
   * @param template the sentence, with {@code %s} for each argument
   */
  public static ApiException of(
      ErrorCode code, String template, @Nullable Object argument, @Nullable Object... more) {
    List<@Nullable Object> arguments = new ArrayList<>();
    arguments.add(argument);
    Collections.addAll(arguments, more);
    return of(code, template.formatted(arguments.toArray()));
  }

  /**
   * 404 with the same wording for an item that does not exist and one that belongs to somebody
   * else.
   */
  public static ApiException notFound(String noun, String id) {
    return of(ErrorCode.NOT_FOUND, "no " + noun + " '" + Text.shown(id) + "' here");
  }

  /** 422 for a field with an unacceptable value; the detail names the accepted values. */
  public static ApiException badField(String field, @Nullable Object value, String accepted) {
    return of(
        ErrorCode.BAD_REQUEST,
        "%s: %s is not acceptable; expected %s",
        field,
        Text.shown(String.valueOf(value)),
        accepted);
  }

  /**
   * A throttling refusal: the same request can succeed after this many milliseconds, rounded up.
   */
  public static ApiException retryLater(ErrorCode code, String detail, long retryAfterMillis) {
    return of(code, detail).with("retry_after_s", retryAfterSeconds(retryAfterMillis));
  }

  /**
   * A refusal of requests that come too often.
   *
   * @param reason the limit that was reached: {@code cadence}, {@code budget}, {@code address} …
   */
  public static ApiException tooOften(String reason, String detail, long retryAfterMillis) {
    return of(ErrorCode.RATE_LIMITED, detail)
        .with("reason", reason)
        .with("retry_after_s", retryAfterSeconds(retryAfterMillis));
  }

  /** A wait as clients read it: whole seconds, rounded up, at least 1. */
  public static long retryAfterSeconds(long millis) {
    return Math.max(1, (millis + 999) / 1000);
  }

  /**
   * The change was stored, but a later step failed; the detail must not suggest that nothing was
   * stored.
   *
   * @see #retryLater
   */
  public static ApiException storedOnly() {
    return retryLater(
        ErrorCode.OVERLOADED,
        "the change is stored, but may not be in force here yet; read the state before you retry",
        1_000);
  }

  /** Returns this refusal with one more field in its JSON. */
  public ApiException with(String field, String value) {
    return and(field, value);
  }

  /** Returns this refusal with one more field in its JSON, a whole number. */
  public ApiException with(String field, long value) {
    return and(field, value);
  }

  /** Returns this refusal with one more field in its JSON, a number. */
  public ApiException with(String field, double value) {
    return and(field, value);
  }

  /** The kinds of values are those that every writer of JSON takes. */
  private ApiException and(String field, Object value) {
    Map<String, Object> more = new LinkedHashMap<>(extras);
    more.put(field, value);
    return new ApiException(code, detail(), Collections.unmodifiableMap(more));
  }

  public ErrorCode code() {
    return code;
  }

  /** The failure, with the offending value and the accepted ones. */
  public String detail() {
    return String.valueOf(getMessage());
  }

  /** The fields of the JSON answer, in order: the code, the detail, and those the code carries. */
  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("error", code.code());
    fields.put("detail", detail());
    fields.putAll(extras);
    return fields;
  }

  /** The fields that the code carries, in order. */
  public Map<String, Object> extras() {
    return extras;
  }
}
