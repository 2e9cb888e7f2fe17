package dev.bourse.remote;

import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/** A command failed; the message states the cause and the remedy. */
public final class RefusedException extends Exception {
  private static final long serialVersionUID = 1;

  private final ExitCode exitCode;
  private final int status;
  private final String error;
  private final String reason;
  private final long retryAfterSeconds;

  /** A failure that is not an answer of the service. */
  public RefusedException(ExitCode exitCode, String message) {
    this(exitCode, message, 0, null);
  }

  /**
   * @param status of the answer; 0 if there was none
   * @param answer its JSON; null if it has none
   */
  public RefusedException(
      ExitCode exitCode, String message, int status, @Nullable JsonObject answer) {
    super(message);
    JsonObject told = answer == null ? new JsonObject() : answer;
    this.exitCode = exitCode;
    this.status = status;
    this.error = text(told, "error");
    this.reason = text(told, "reason");
    this.retryAfterSeconds =
        told.getValue("retry_after_s") instanceof Number seconds ? seconds.longValue() : 0;
  }

  private static String text(JsonObject told, String field) {
    return told.getValue(field) instanceof String text ? text : "";
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }

  public ExitCode exitCode() {
    return exitCode;
  }

  /** Returns true if the same request may succeed later. */
  public boolean isTransient() {
    return exitCode == ExitCode.UNAVAILABLE;
  }

  /** Returns the status of the answer; 0 if there was none. */
  public int status() {
    return status;
  }

  /** Returns the error code of the answer; empty if there was none. */
  public String error() {
    return error;
  }

  /** Returns the reason of a conflict; empty if the answer has none. */
  public String reason() {
    return reason;
  }

  /** Returns the seconds after which to try again; 0 if the answer does not say. */
  public long retryAfterSeconds() {
    return retryAfterSeconds;
  }

  /** Returns true if the service answered with this error code. */
  public boolean is(String code) {
    return error.equals(code);
  }
}
